package agentstorageextension

import (
	"context"
	"log/slog"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// zapHandler passes what the core logs with slog to the logger that the
// collector gave the component.
type zapHandler struct {
	core   zapcore.Core
	fields []zap.Field
	prefix string // of keys, from groups
}

var _ slog.Handler = (*zapHandler)(nil)

func newZapHandler(l *zap.Logger) *zapHandler { return &zapHandler{core: l.Core()} }

func zapLevel(l slog.Level) zapcore.Level {
	switch {
	case l >= slog.LevelError:
		return zapcore.ErrorLevel
	case l >= slog.LevelWarn:
		return zapcore.WarnLevel
	case l >= slog.LevelInfo:
		return zapcore.InfoLevel
	default:
		return zapcore.DebugLevel
	}
}

// Enabled implements slog.Handler.
func (h *zapHandler) Enabled(_ context.Context, l slog.Level) bool {
	return h.core.Enabled(zapLevel(l))
}

// Handle implements slog.Handler.
func (h *zapHandler) Handle(_ context.Context, r slog.Record) error {
	entry := zapcore.Entry{Level: zapLevel(r.Level), Time: r.Time, Message: r.Message}
	checked := h.core.Check(entry, nil)
	if checked == nil {
		return nil
	}
	fields := slices.Clone(h.fields)
	r.Attrs(func(a slog.Attr) bool {
		fields = append(fields, h.field(a))
		return true
	})
	checked.Write(fields...)
	return nil
}

func (h *zapHandler) field(a slog.Attr) zap.Field {
	return zap.Any(h.prefix+a.Key, a.Value.Resolve().Any())
}

// WithAttrs implements slog.Handler.
func (h *zapHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	n := *h
	n.fields = slices.Clone(h.fields)
	for _, a := range attrs {
		n.fields = append(n.fields, h.field(a))
	}
	return &n
}

// WithGroup implements slog.Handler.
func (h *zapHandler) WithGroup(name string) slog.Handler {
	n := *h
	n.prefix += name + "."
	return &n
}
