package cli

import (
	"io"
	"os"
	"strings"
)

// isURL reports whether an argument is a URL and not the name of a file.
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

// readFile reads at most limit + 1 bytes of a file: the caller recognises a file
// that is too large by its length.
func (r *run) readFile(name string, limit int64) ([]byte, error) {
	file, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, limit+1))
}
