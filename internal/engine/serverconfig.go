package engine

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// serverConfig is the configuration file of the engine. Without one the library
// takes 90 % of the machine's memory and reads config.xml from the working
// directory. The caches and pools are those of a guest, not of a server: the
// defaults are 5 GiB for each cache and 150 threads.
func serverConfig(dirs directories, maxMemory int64) string {
	cache := maxMemory / 48 // 32 MiB of 1.5 GiB
	var b strings.Builder
	b.WriteString("<clickhouse>\n")
	set := func(name string, value any) {
		var text strings.Builder
		_ = xml.EscapeText(&text, fmt.Append(nil, value)) // a Builder never fails
		fmt.Fprintf(&b, "  <%s>%s</%s>\n", name, text.String(), name)
	}
	set("tmp_path", dirs.tmp+"/")
	set("user_files_path", dirs.files+"/")
	set("format_schema_path", dirs.files+"/")
	set("max_server_memory_usage", maxMemory)
	set("mark_cache_size", cache)
	set("primary_index_cache_size", cache)
	set("index_mark_cache_size", cache/4)
	set("index_uncompressed_cache_size", 0)
	set("uncompressed_cache_size", 0)
	set("query_condition_cache_size", cache/4)
	set("compiled_expression_cache_size", cache/4)
	set("vector_similarity_index_cache_size", 0)
	set("text_index_dictionary_block_cache_size", cache/4) // 26.5
	set("text_index_tokens_cache_size", cache/4)           // 26.7
	set("unique_key_index_cache_size_bytes", 0)
	set("parquet_metadata_cache_size", 0)
	set("iceberg_metadata_files_cache_size", 0)
	set("text_index_header_cache_size", cache/4)
	set("text_index_postings_cache_size", cache/4)
	set("mmap_cache_size", 64)
	set("background_pool_size", 2)
	set("background_merges_mutations_concurrency_ratio", 2)
	set("background_schedule_pool_size", 4)
	set("background_common_pool_size", 2)
	set("background_fetches_pool_size", 1)
	set("background_move_pool_size", 1)
	set("background_buffer_flush_schedule_pool_size", 1)
	set("background_distributed_schedule_pool_size", 1)
	set("background_message_broker_schedule_pool_size", 1)
	set("max_parts_cleaning_thread_pool_size", 2)
	set("max_active_parts_loading_thread_pool_size", 2)
	set("max_outdated_parts_loading_thread_pool_size", 2)
	set("max_thread_pool_free_size", 16)
	b.WriteString("</clickhouse>\n")
	return b.String()
}
