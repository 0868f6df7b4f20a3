package request

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Decode makes the body of a request plain that came as gzip. Its size is not known then:
// the reader must bound what it takes, because a small body can become a large one. A body
// in another coding stays as it is, with its header.
func Decode(r *http.Request) {
	coding := strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ","))
	if strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip") {
		r.Header.Del("Content-Encoding")
		r.Body, r.ContentLength = &gzipBody{sent: r.Body}, -1
	}
}

// gzipBody is a body that is decompressed while it is read.
type gzipBody struct {
	sent  io.ReadCloser
	wire  int64 // bytes that came
	plain *gzip.Reader
}

// wireReader counts what comes.
type wireReader struct{ *gzipBody }

func (w wireReader) Read(p []byte) (int, error) {
	n, err := w.sent.Read(p)
	w.wire += int64(n)
	return n, err
}

// Read decompresses.
func (b *gzipBody) Read(p []byte) (n int, err error) {
	if b.plain == nil {
		if b.plain, err = gzip.NewReader(wireReader{b}); err != nil {
			return 0, withoutEOF(err)
		}
	}
	return b.plain.Read(p)
}

// withoutEOF returns io.EOF as an error of a body that ends too early: an empty body is
// not gzip.
func withoutEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Close closes the body.
func (b *gzipBody) Close() error { return b.sent.Close() }

// WireBytes returns how many bytes of a compressed body have arrived; false for a body that is not
// compressed.
func WireBytes(body io.Reader) (int64, bool) {
	compressed, ok := body.(*gzipBody)
	if !ok {
		return 0, false
	}
	return compressed.wire, true
}
