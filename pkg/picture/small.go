package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// MaxBytes is the most bytes of a file that is made small.
	MaxBytes = 2 << 20

	// maxMemory is what all pictures that are decoded at once may need together, and so
	// the most that one may need.
	maxMemory = 128 << 20
	// maxTime is how long one picture may take: small files can occupy a decoder for hours.
	maxTime = 5 * time.Second
	// maxSmall is the most bytes of a small picture.
	maxSmall = 40 << 10
)

// ErrUnusable means that a file is no picture that can be shown.
var ErrUnusable = errors.New("picture: not a picture that can be shown")

// sizes are the longest sides and the qualities of small pictures, the best first.
var sizes = []struct{ side, quality int }{{640, 60}, {640, 45}, {640, 30}, {480, 30}, {320, 30}, {160, 30}}

// Shrinker makes pictures small. It is safe for concurrent use.
type Shrinker struct {
	memory *semaphore.Weighted
	time   time.Duration // that one picture may take
}

// NewShrinker returns a Shrinker, which decodes within a memory of its own.
func NewShrinker() *Shrinker { return &Shrinker{semaphore.NewWeighted(maxMemory), maxTime} }

// Small returns a picture as JPEG of at most 40 KB and 640 pixels a side, upright and
// without any byte of the original. A file that cannot be shown is ErrUnusable.
func (s *Shrinker) Small(ctx context.Context, data []byte) ([]byte, error) {
	kind := KindOf(data)
	if kind == "" || len(data) > MaxBytes {
		return nil, ErrUnusable
	}
	config, err := Config(kind, data)
	if err != nil {
		return nil, errors.Join(ErrUnusable, err)
	}
	const afterwards = 3 * 4 * 640 * 640 // shrunk, turned, compressed
	need := Memory(kind, data, config) + afterwards
	if config.Width <= 0 || config.Height <= 0 || need > maxMemory {
		return nil, fmt.Errorf("%w: %d by %d pixels", ErrUnusable, config.Width, config.Height)
	}
	if err := s.memory.Acquire(ctx, need); err != nil {
		return nil, fmt.Errorf("picture: wait for memory: %w", err)
	}
	defer s.memory.Release(need)
	work, cancel := context.WithTimeout(ctx, s.time)
	defer cancel()
	decoded, err := Decode(work, kind, data)
	var small []byte
	if err == nil {
		small, err = encode(work, decoded, Orientation(kind, data))
	}
	if err != nil && ctx.Err() == nil { // it is damaged, or takes too long
		return nil, errors.Join(ErrUnusable, err)
	}
	return small, err
}

// encode returns the best JPEG that is small enough.
func encode(ctx context.Context, decoded image.Image, turned int) ([]byte, error) {
	bounds, side := decoded.Bounds(), 0
	var small *image.RGBA
	for _, try := range sizes {
		if try.side != side {
			side = try.side
			width, height := Fit(bounds.Dx(), bounds.Dy(), side)
			shrunk, err := Shrink(ctx, decoded, width, height)
			if err != nil {
				return nil, err
			}
			small = Upright(shrunk, turned)
		}
		var out bytes.Buffer
		if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: try.quality}); err != nil {
			return nil, fmt.Errorf("picture: encode: %w", err)
		}
		if out.Len() <= maxSmall {
			return out.Bytes(), nil
		}
	}
	return nil, ErrUnusable
}
