package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrInUse is in the error of Start where another process owns DataDir.
var ErrInUse = errors.New("the data directory is in use")

// holder is what the lock file says of its owner.
type holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
}

// lockWait is how long a dead owner's engine may take to end.
const lockWait = 10 * time.Second

// lockDir takes the lock of a data directory. The file is shared with the
// child, so the lock outlives a killed parent until its child is gone too. An
// owner that lives is an error at once; one that does not is waited for.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), file.Close())
		}
		owner, readErr := readHolder(file)
		if readErr == nil && alive(owner.PID) {
			return nil, errors.Join(inUse(dir, owner), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(inUse(dir, owner), file.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := writeHolder(file); err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock: %w", err), file.Close())
	}
	return file, nil
}

func inUse(dir string, owner holder) error {
	if owner.PID == 0 {
		return fmt.Errorf("%w: %s is held by a process that left no name", ErrInUse, dir)
	}
	return fmt.Errorf("%w: %s is held by process %d on %s since %s; stop it, or choose another directory",
		ErrInUse, dir, owner.PID, owner.Host, owner.Started.Format(time.RFC3339))
}

func readHolder(file *os.File) (holder, error) {
	var h holder
	b, err := io.ReadAll(io.NewSectionReader(file, 0, 4096))
	if err == nil {
		err = json.Unmarshal(b, &h)
	}
	return h, err
}

func writeHolder(file *os.File) error {
	host, _ := os.Hostname()
	b, err := json.Marshal(holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC()})
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(append(b, '\n'), 0)
	return err
}

// alive reports whether a process of this machine exists; one of another user
// answers EPERM.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
