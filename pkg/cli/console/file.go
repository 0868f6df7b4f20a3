package console

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// IsURL reports whether an argument is a URL and not the name of a file.
func IsURL(argument string) bool {
	scheme, _, found := strings.Cut(argument, "://")
	return found && !strings.ContainsAny(scheme, `/\.`)
}

// Open opens a file, or standard input for the name "-".
func (s Streams) Open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.In), nil
	}
	return os.Open(name) //nolint:gosec // the operator names the file
}

// ReadFile reads at most limit + 1 bytes of a file: the caller recognises a file
// that is too large by its length.
func (s Streams) ReadFile(name string, limit int64) ([]byte, error) {
	file, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// WriteFile writes a file completely or not at all.
func WriteFile(name string, data []byte) error { return CopyFile(name, bytes.NewReader(data)) }

// CopyFile writes what it reads to a file, completely or not at all.
func CopyFile(name string, data io.Reader) error {
	part, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".part")
	if err != nil {
		return err
	}
	_, err = io.Copy(part, data)
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}
