package request

import (
	"bytes"
	"mime"
	"net/http"
	"slices"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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

// Document is a document that every caller gets: it is compressed once, in each coding.
type Document struct {
	mediaType string
	tag       string
	coded     map[string][]byte // by the content coding; "" is the document as it is
}

// NewDocument compresses a document.
func NewDocument(mediaType string, data []byte) (*Document, error) {
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level exists
	_, _ = writer.Write(data)                                       // a buffer takes all
	_ = writer.Close()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, err
	}
	defer func() { _ = encoder.Close() }()
	coded := map[string][]byte{"": data, "gzip": packed.Bytes(), "zstd": encoder.EncodeAll(data, nil)}
	return &Document{mediaType, TagOf(data), coded}, nil
}

// Write responds with the document in the coding that the request wants most, or with 304.
func (d *Document) Write(w http.ResponseWriter, r *http.Request) {
	coding, most := "", 0.0
	ranges := parseAccept(r.Header.Values("Accept-Encoding"))
	for _, known := range []string{"zstd", "gzip"} {
		if q := quality(ranges, known); q > most {
			coding, most = known, q
		}
	}
	if coding != "" {
		w.Header().Set("Content-Encoding", coding)
	}
	w.Header().Add("Vary", "Accept-Encoding")
	writeTagged(w, r, d.mediaType, "no-cache", d.tag, d.coded[coding])
}
