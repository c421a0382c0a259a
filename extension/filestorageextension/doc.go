// Package filestorageextension is the upstream file_storage extension, the place
// of the exporters' queues on disk, which can also be asked to forget: to keep
// nothing in its files of what has been taken out (docs/adr/012).
//
//	Set → page of the file … Delete → the page is free, its text still there
//	Forget → what was stored before is taken out → the file is written anew
package filestorageextension
