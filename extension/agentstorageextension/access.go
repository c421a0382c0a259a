package agentstorageextension

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// serverOnly reports the keys that say nothing to the embedded engine.
func (c *Config) serverOnly() []error {
	var errs []error
	for _, k := range []struct{ name, value string }{
		{"username", c.Username},
		{"password", string(c.Password)},
		{"password_file", c.PasswordFile},
		{"ca_file", c.CAFile},
		{"cert_file", c.CertFile},
		{"key_file", c.KeyFile},
	} {
		if k.value != "" {
			errs = append(errs, fmt.Errorf("%s needs a server: dsn is embedded", k.name))
		}
	}
	if c.Cluster != "" {
		errs = append(errs, errors.New("cluster needs a server: the embedded engine is a single one"))
	}
	return errs
}

// checkAccess reports what contradicts itself in how a server is signed in to.
// It reads no file.
func (c *Config) checkAccess(opts *clickhouse.Options) []error {
	var errs []error
	refuse := func(wrong bool, text string) {
		if wrong {
			errs = append(errs, errors.New(text))
		}
	}
	refuse(c.Username != "" && opts.Auth.Username != "", "username is given twice: here and in dsn")
	refuse(c.Password != "" && c.PasswordFile != "", "password is given twice: as password and by password_file")
	refuse((c.Password != "" || c.PasswordFile != "") && opts.Auth.Password != "", "password is given twice: here and in dsn")
	refuse(opts.TLS == nil && (c.CAFile != "" || c.CertFile != "" || c.KeyFile != ""),
		"ca_file, cert_file and key_file need TLS: write dsn as https://… or clickhouse://…?secure=true")
	refuse((c.CertFile == "") != (c.KeyFile == ""), "cert_file and key_file go together")
	return errs
}

// access completes opts with what files and keys say. Its errors name files and
// never what is in them.
func (c *Config) access(opts *clickhouse.Options) error {
	if c.Username != "" {
		opts.Auth.Username = c.Username
	}
	if c.Password != "" {
		opts.Auth.Password = string(c.Password)
	}
	if c.PasswordFile != "" {
		text, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return fmt.Errorf("password_file: %w", err)
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		if len(text) == 0 || bytes.ContainsAny(text, "\r\n\x00") {
			return fmt.Errorf("password_file: %s must hold one line", c.PasswordFile)
		}
		opts.Auth.Password = string(text)
	}
	if opts.TLS == nil {
		return nil
	}
	return c.trust(opts)
}

// trust completes the TLS options.
func (c *Config) trust(opts *clickhouse.Options) error {
	cfg := opts.TLS.Clone()
	cfg.MinVersion = tls.VersionTLS12
	if c.CAFile != "" {
		text, err := os.ReadFile(c.CAFile)
		if err != nil {
			return fmt.Errorf("ca_file: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("ca_file: %s has no certificate in PEM form", c.CAFile)
		}
	}
	if c.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return fmt.Errorf("cert_file, key_file: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	opts.TLS = cfg
	return nil
}
