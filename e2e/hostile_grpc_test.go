package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"
)

// gRPC's own default is 4 MiB; the built-in config states 64 MiB for both protocols.
func TestTheSizeLimitOfGRPCIsTheOneThatIsStated(t *testing.T) {
	RequireEngine(t)
	in := Start(t, Options{})
	export := func(id string, size int, opts ...grpc.CallOption) error {
		td := goodCall(id, func(_ ptrace.Span, a pcommon.Map) { a.PutStr("x", strings.Repeat("x", size)) })
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return exportGRPC(ctx, in, ptraceotlp.NewExportRequestFromTraces(td), opts...)
	}
	t.Run("5.3 MB are taken", func(t *testing.T) {
		require.NoError(t, export("grpc 5", 5_300_000))
		require.Len(t, told(t, in, "grpc 5", 1).calls, 1)
	})
	t.Run("63 MiB are taken", func(t *testing.T) {
		require.NoError(t, export("grpc 63", 63<<20, grpc.UseCompressor(gzip.Name)))
		require.Len(t, told(t, in, "grpc 63", 1).calls, 1)
	})
	t.Run("65 MiB are too much", func(t *testing.T) {
		require.Equal(t, codes.ResourceExhausted, status.Code(export("grpc 65", 65<<20)))
	})
	t.Run("65 MiB are too much when compressed too", func(t *testing.T) {
		require.Equal(t, codes.ResourceExhausted, status.Code(export("grpc 65 gzip", 65<<20, grpc.UseCompressor(gzip.Name))))
	})
}
