package cli

import (
	"io"
	"os"
	"strings"
)

// isURL tells an address from the name of a file.
func isURL(argument string) bool {
	scheme, _, found := strings.Cut(argument, "://")
	return found && !strings.ContainsAny(scheme, `/\.`)
}

// open opens a file, or standard input for the name "-".
func (r *run) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(r.In), nil
	}
	return os.Open(name) //nolint:gosec // the operator names the file
}

// readFile reads a file of at most so many bytes, and one byte of a larger
// one more.
func (r *run) readFile(name string, limit int64) ([]byte, error) {
	file, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, limit+1))
}
