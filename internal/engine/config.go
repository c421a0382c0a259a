package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"
)

// Config of an Engine. Only DataDir has no default.
type Config struct {
	// DataDir is the folder that holds everything of the engine. It is made
	// where it is missing, and belongs to one Engine at a time.
	DataDir string
	// LibraryPath is the libchdb.so to load; empty: what FindLibrary finds.
	LibraryPath string
	// MaxMemory is the bound of the engine's own accounting, in bytes. The
	// process takes up to about 200 MB more. Default: DefaultMaxMemory.
	MaxMemory int64
	// MaxConcurrent is how many statements run at once; more wait. Default: 16.
	MaxConcurrent int
	// MaxInsertBytes bounds the data of one INSERT. Default: 256 MiB.
	MaxInsertBytes int64
	// MaxQueryBytes bounds the text of one statement. Default: 16 MiB.
	MaxQueryBytes int64
	// Loopback serves on a loopback port behind a random secret instead of a
	// unix socket. It is also done where the socket's path would be too long.
	Loopback bool
	// Temporary removes DataDir when the engine ends, however it ends.
	Temporary bool
	// Executable hosts the child. It must call ChildMain first thing. Default:
	// the running program.
	Executable string
	// StartTimeout bounds one start of the child. Default: 2 minutes.
	StartTimeout time.Duration
	// Logger is told of starts, crashes and what the child writes to its
	// output. Default: none.
	Logger *slog.Logger
}

// DefaultMaxMemory is 1.5 GiB.
const DefaultMaxMemory = 3 << 29

// minMemory is what the engine needs to start and merge small parts.
const minMemory = 256 << 20

// withDefaults fills in what was left out and checks the rest.
func (c Config) withDefaults() (Config, error) {
	if c.DataDir == "" {
		return c, errors.New("engine: DataDir is empty")
	}
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		return c, fmt.Errorf("engine: resolve DataDir: %w", err)
	}
	c.DataDir = dir
	setDefault(&c.MaxMemory, DefaultMaxMemory)
	setDefault(&c.MaxConcurrent, 16)
	setDefault(&c.MaxInsertBytes, 256<<20)
	setDefault(&c.MaxQueryBytes, 16<<20)
	setDefault(&c.StartTimeout, 2*time.Minute)
	if c.Executable == "" {
		c.Executable = ownExecutable
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.MaxMemory < minMemory {
		return c, fmt.Errorf("engine: MaxMemory is %d bytes, the engine needs at least %d", c.MaxMemory, minMemory)
	}
	if c.MaxConcurrent < 0 || c.MaxInsertBytes < 0 || c.MaxQueryBytes < 0 || c.StartTimeout < 0 {
		return c, errors.New("engine: a limit is negative")
	}
	return c, nil
}

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}
