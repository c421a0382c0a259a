package agent

import "strings"

// grpcNames are the gRPC status codes by number (google.rpc.Code), in lower case
// and one piece.
var grpcNames = [...]string{
	1: "cancelled", 2: "unknown", 3: "invalidargument", 4: "deadlineexceeded", 5: "notfound", 6: "alreadyexists", 7: "permissiondenied",
	8: "resourceexhausted", 9: "failedprecondition", 10: "aborted", 11: "outofrange", 12: "unimplemented", 13: "internal", 14: "unavailable",
	15: "dataloss", 16: "unauthenticated",
}

// grpcNamed is the gRPC status that an error names: as its type, or in its text
// where Go and Python write one. 0 if none.
func grpcNamed(typ, text string) int {
	if code := grpcCode(lastSegment(typ)); code != 0 {
		return code
	}
	for _, before := range [...]string{"rpc error: code = ", "StatusCode."} {
		if _, after, found := strings.Cut(text, before); found {
			end := 0
			for end < len(after) && (isLetter(after[end]|0x20) || after[end] == '_') {
				end++
			}
			return grpcCode(after[:end])
		}
	}
	return 0
}

// grpcCode reads FailedPrecondition, FAILED_PRECONDITION or grpc_failed_precondition.
// A plain word in lower case, and Unknown, are what other programs write too.
func grpcCode(name string) int {
	const longest = len("grpc_failed_precondition")
	if len(name) > longest {
		return 0
	}
	lower := strings.ToLower(name)
	word := strings.TrimPrefix(strings.ReplaceAll(lower, "_", ""), "grpc")
	if word == lower && (name == lower || word == "unknown") {
		return 0
	}
	for code, known := range grpcNames {
		if known != "" && word == known {
			return code
		}
	}
	return 0
}

// grpcSign is what a gRPC status shows (google.rpc.Code).
func grpcSign(code int) Sign {
	switch code {
	case 3, 5, 6, 7, 8, 9, 11, 12, 16:
		// InvalidArgument, NotFound, AlreadyExists, PermissionDenied,
		// ResourceExhausted, FailedPrecondition, OutOfRange, Unimplemented,
		// Unauthenticated
		return SignRejected
	case 1, 2, 4, 10, 13, 14, 15:
		// Cancelled, Unknown, DeadlineExceeded, Aborted, Internal, Unavailable,
		// DataLoss
		return SignLost
	}
	return SignException
}
