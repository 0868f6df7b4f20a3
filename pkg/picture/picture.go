// Package picture decodes pictures that come from strangers: it tells by the bytes of a
// file what it is, reads the header before it decodes, estimates the memory, and draws
// every picture again, so that no byte of the original leaves it.
package picture

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

// Kind is the type of a picture by its content.
type Kind string

// The kinds that can be decoded.
const (
	JPEG Kind = "jpeg"
	PNG  Kind = "png"
	WebP Kind = "webp"
	GIF  Kind = "gif" // of an animation, the first picture
)

// KindOf returns the kind of a file by its first bytes; "" for anything that cannot be
// decoded. The name and the Content-Type of a file are only claims.
func KindOf(data []byte) Kind {
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

// Config reads the header of a picture.
func Config(kind Kind, data []byte) (image.Config, error) {
	config, err := decoders[kind].config(bytes.NewReader(data))
	if err != nil {
		return config, fmt.Errorf("picture: header: %w", err)
	}
	return config, nil
}

// maxScans is how many scans of a JPEG are decoded. Encoders make ten; each costs a pass over
// the whole picture, and can have a few bytes only.
const maxScans = 64

// ErrTooManyScans means that a JPEG has more scans than are decoded.
var ErrTooManyScans = fmt.Errorf("picture: more than %d scans", maxScans)

// Decode decodes a picture until ctx ends. Decoders have no context, and a small file can
// occupy them for seconds.
func Decode(ctx context.Context, kind Kind, data []byte) (image.Image, error) {
	if kind == JPEG && countScans(data) > maxScans {
		return nil, ErrTooManyScans
	}
	decoded, err := decoders[kind].decode(&untilDone{ctx, bytes.NewReader(data)})
	if stopped := ctx.Err(); stopped != nil {
		return nil, fmt.Errorf("picture: decode: %w", stopped)
	}
	if err != nil {
		return nil, fmt.Errorf("picture: decode: %w", err)
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
