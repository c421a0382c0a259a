// Package policyfile finds and reads the policy that a component was configured
// with: a file, or the policy that ships with the product. It is the one place
// that knows files and environment for them; what a policy says is known by
// package policy.
//
//	policy_file: path or builtin:demo → bytes → (redaction key) → policy.Parse
package policyfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	demopolicy "github.com/steptrail/steptrail/collector/policy"
	"github.com/steptrail/steptrail/internal/policy"
)

// Demo is the source that names the policy shipped with the product.
const Demo = "builtin:demo"

// KeyFile is the name of the file in the data folder that holds the redaction
// key made for the demo policy.
const KeyFile = "redaction.key"

// keyBytes of randomness make a key; it is written as hex.
const keyBytes = 32

// Load reads the policy that source names. With the demo policy and no
// redaction key in the environment, a key is made in dataDir (mode 0600) and
// used again at the next start; with any other policy a missing key is an error.
// Several components of one process may load at the same time.
func Load(source, dataDir string, options ...policy.Option) (*policy.Policy, error) {
	data, err := read(source)
	if err != nil {
		return nil, err
	}
	return parse(source, data, func() (string, error) { return madeKey(dataDir) }, options)
}

// Check reads the policy as Load does and writes nothing: where Load would make a
// key, needsKey is true and the policy has a key of this call only, under which
// nothing may be stored.
func Check(source, dataDir string, options ...policy.Option) (p *policy.Policy, needsKey bool, err error) {
	data, err := read(source)
	if err != nil {
		return nil, false, err
	}
	p, err = parse(source, data, func() (string, error) {
		key, kerr := keptKey(dataDir)
		if needsKey = errors.Is(kerr, fs.ErrNotExist); needsKey {
			return newKey(), nil
		}
		return key, kerr
	}, options)
	return p, needsKey, err
}

// parse reads a policy and asks for a key where the demo policy finds none in the
// environment.
func parse(source string, data []byte, key func() (string, error), options []policy.Option) (*policy.Policy, error) {
	p, err := policy.Parse(data, os.LookupEnv, options...)
	if source == Demo && errors.Is(err, policy.ErrNoRedactionKey) {
		k, kerr := key()
		if kerr != nil {
			return nil, fmt.Errorf("redaction key for the demo policy: %w", kerr)
		}
		p, err = policy.Parse(data, os.LookupEnv, append(options, policy.WithRedactionKey(k))...)
	}
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", source, err)
	}
	return p, nil
}

// LoadKeyless reads the policy for a component that redacts nothing, such as
// the analyzer: there a missing redaction key is no error. Redaction.Key of the
// result must not be used.
func LoadKeyless(source string, options ...policy.Option) (*policy.Policy, error) {
	data, err := read(source)
	if err != nil {
		return nil, err
	}
	unused := strings.Repeat("-", policy.MinRedactionKey)
	p, err := policy.Parse(data, os.LookupEnv, append(options, policy.WithRedactionKey(unused))...)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", source, err)
	}
	return p, nil
}

func read(source string) ([]byte, error) {
	switch source {
	case "":
		return nil, fmt.Errorf("policy_file must be set: a path, or %s for the policy shipped with the product", Demo)
	case Demo:
		return demopolicy.Demo(), nil
	}
	f, err := os.Open(source)
	if err != nil {
		return nil, fmt.Errorf("policy_file: %w", err)
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, policy.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("policy_file: %w", err)
	}
	return data, nil
}

// madeKey gives the key kept in the folder, and makes it at the first call. Two
// callers at once get the same key: it is written under another name and linked
// into place, which only one of them can.
func madeKey(dir string) (string, error) {
	key, err := keptKey(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	path := filepath.Join(dir, KeyFile)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := writeKey(dir, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return readKey(path)
}

// keptKey gives the key kept in the folder; the error is fs.ErrNotExist where
// none was made yet.
func keptKey(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data folder to keep it in; set STEPTRAIL_REDACTION_KEY or data_dir")
	}
	return readKey(filepath.Join(dir, KeyFile))
}

func newKey() string {
	raw := make([]byte, keyBytes)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

func readKey(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by others (mode %04o): chmod 600 it", path, info.Mode().Perm())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(data))
	if len(key) < policy.MinRedactionKey {
		return "", fmt.Errorf("%s holds %d bytes, a key has at least %d; remove it to have a new one made (values pseudonymised before will not compare with those after)", path, len(key), policy.MinRedactionKey)
	}
	return key, nil
}

func writeKey(dir, path string) error {
	f, err := os.CreateTemp(dir, KeyFile+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // a leftover temporary file is harmless
	if err := f.Chmod(0o600); err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = f.WriteString(newKey() + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
