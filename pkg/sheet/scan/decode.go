package scan

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// Kind is the type of a file by its content.
type Kind string

// The kinds that can be decoded.
const (
	JPEG Kind = "jpeg"
	PNG  Kind = "png"
	WebP Kind = "webp"
	GIF  Kind = "gif" // of an animation, the first picture
	PDF  Kind = "pdf" // a document
)

// kindOf returns the kind of a file by its first bytes; "" for anything that cannot be
// decoded. The name and the Content-Type of a file are only claims.
func kindOf(data []byte) Kind {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return GIF
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return WebP
	}
	return ""
}

// decoders are the two functions of each kind.
var decoders = map[Kind]struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}{
	JPEG: {jpeg.DecodeConfig, jpeg.Decode}, PNG: {png.DecodeConfig, png.Decode},
	GIF: {gif.DecodeConfig, gif.Decode}, WebP: {webp.DecodeConfig, webp.Decode},
}

// maxScans is how many scans of a JPEG are decoded. Encoders make ten; each costs a pass over
// the whole picture, and can have a few bytes only.
const maxScans = 64

// decode decodes a picture until ctx ends. Decoders have no context, and a small file can
// occupy them for seconds.
func decode(ctx context.Context, kind Kind, data []byte) (image.Image, error) {
	if kind == JPEG && countScans(data) > maxScans {
		return nil, tooLong(fmt.Errorf("a JPEG with more than %d scans", maxScans))
	}
	decoded, err := decoders[kind].decode(&untilDone{ctx, bytes.NewReader(data)})
	if stopped := interrupted(ctx); stopped != nil {
		return nil, stopped
	}
	if err != nil {
		return nil, damaged(err)
	}
	return decoded, nil
}

// untilDone reads until ctx ends.
type untilDone struct {
	ctx  context.Context //nolint:containedctx // the interface of io.Reader has no room for it
	next io.Reader
}

// Read implements io.Reader.
func (u *untilDone) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.next.Read(b)
}
