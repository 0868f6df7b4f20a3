package negotiate

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// minSize is the least size of a response that is compressed, in bytes: a smaller one
// takes one packet either way.
const minSize = 1024

// compressible are the media types of responses that are compressed. Events are not: a
// caller gets each when it happens. A workbook is compressed already.
var compressible = []string{
	"application/json", "application/x-ndjson", "application/yaml", "application/javascript", "image/svg+xml",
	"text/csv", "text/html", "text/css", "text/javascript",
}

// Compressed returns a handler whose responses are in the content coding that the request
// wants most: zstd, gzip or none (RFC 9110, section 12.5.3).
func Compressed(next http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minSize),
		gzhttp.ContentTypeFilter(func(contentType string) bool {
			mediaType, _, err := mime.ParseMediaType(contentType)
			return err == nil && slices.Contains(compressible, mediaType)
		}))
	if err != nil {
		return nil, err
	}
	return wrap(next), nil
}

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
			return 0, noEOF(err)
		}
	}
	return b.plain.Read(p)
}

// noEOF returns an error of an empty body, which is not gzip, as one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Close closes the body.
func (b *gzipBody) Close() error { return b.sent.Close() }

// Wire returns how many bytes of the body came.
func (b *gzipBody) Wire() int64 { return b.wire }
