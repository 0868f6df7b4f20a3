package request

import (
	"mime"
	"net/http"
	"slices"

	"github.com/klauspost/compress/gzhttp"
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
