package scan

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"strconv"

	"ushuru/pkg/message"
)

// quality is the JPEG quality of the result. A higher one only makes it larger.
const quality = 90

// memoryAfter is for the steps after decoding: the picture shrunk, turned, compressed.
const memoryAfter = 3 * 4 * MaxSide * MaxSide

// memoryFor estimates how many bytes an image needs for decoding and for all later steps.
func memoryFor(kind Kind, data []byte, config image.Config) int64 {
	return decodingMemory(kind, data, config) + memoryAfter
}

// picture loads an image file.
func (l *Loader) picture(ctx context.Context, kind Kind, data []byte) ([]Image, error) {
	config, err := decoders[kind].config(bytes.NewReader(data))
	if err != nil {
		return nil, damaged(err)
	}
	if err := checkSize(config.Width, config.Height); err != nil {
		return nil, err
	}
	need := memoryFor(kind, data, config)
	if need > DefaultMemory {
		return nil, tooManyPixels(config.Width, config.Height)
	}
	if err := l.turn.Acquire(ctx, need); err != nil {
		return nil, interrupted(ctx)
	}
	defer l.turn.Release(need)
	ctx, stop := withProcessor(ctx, maxPicture)
	defer stop()
	decoded, err := decode(ctx, kind, data)
	if err != nil {
		return nil, err
	}
	made, err := encodeJPEG(ctx, decoded, orientation(kind, data), 1)
	if err != nil {
		return nil, err
	}
	return []Image{*made}, nil
}

// checkSize checks the size of an image that its header gives.
func checkSize(width, height int) error {
	switch {
	case width <= 0 || height <= 0:
		return damaged(fmt.Errorf("%d by %d pixels", width, height))
	case int64(width)*int64(height) > MaxPixels:
		return tooManyPixels(width, height)
	case min(width, height) < MinSide || max(width, height) < MinLongSide:
		return tooSmall(width, height)
	}
	if w, h := fit(width, height, MaxSide); min(w, h) < MinSide {
		return tooSmall(width, height)
	}
	return nil
}

func tooManyPixels(width, height int) error {
	return refused(TooManyPixels, pixels(width, height), nil)
}

func tooSmall(width, height int) error {
	return refused(TooSmall, pixels(width, height), nil)
}

func pixels(width, height int) message.Values {
	return message.Values{"width": strconv.Itoa(width), "height": strconv.Itoa(height)}
}

func damaged(cause error) error {
	return refused(Damaged, nil, cause)
}

// encodeJPEG makes the result of a decoded page: small, upright and not blank.
func encodeJPEG(ctx context.Context, decoded image.Image, turned, page int) (*Image, error) {
	bounds := decoded.Bounds()
	width, height := fit(bounds.Dx(), bounds.Dy(), MaxSide)
	small, err := shrink(ctx, decoded, width, height)
	if err != nil {
		return nil, err
	}
	empty, err := blank(ctx, small)
	if err != nil {
		return nil, err
	}
	if empty {
		return nil, refused(Blank, nil, nil)
	}
	small = upright(small, turned)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	return &Image{JPEG: out.Bytes(), Width: small.Rect.Dx(), Height: small.Rect.Dy(), Page: page}, nil
}
