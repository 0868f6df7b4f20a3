// Package scan makes images of an inspection sheet that the AI can be given.
//
// A sheet comes from a stranger, by a URL or an upload. A Loader judges a file
// by its bytes, not by its name; it checks the header before it decodes; and it
// draws every image again, so that no byte of the original, and no text that
// cannot be seen in it, reaches the AI.
package scan

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"ushuru/pkg/fetch"
	"ushuru/pkg/pace"
)

// Limits of a sheet. Real ones are one page (two for some trucks), a few
// hundred kilobytes from an auction site and up to ten megabytes from a phone.
const (
	// MaxBytes is the maximum size of a file. The API refuses a larger upload
	// (413) before it has read all of it.
	MaxBytes = 12 << 20
	// MaxPages is the maximum number of pages of a PDF. A longer PDF is refused,
	// not truncated: only the caller knows which pages are the sheet, and an
	// omitted page could be the one with the damage.
	MaxPages = 4
	// MaxPixels is the maximum number of pixels of an image before it is
	// decoded, by its header. Phones take 12 to 50 megapixels.
	MaxPixels = 52_000_000

	// MaxSide is the maximum of the longest side of a result in pixels, MinSide
	// the minimum of the shortest, MinLongSide that of the longest. Vision models
	// use at most about 2,000 pixels a side. The smallest images of auction sites
	// (128 by 96 for "no picture", thumbnails 320 wide) are illegible.
	MaxSide     = 2048
	MinSide     = 300
	MinLongSide = 400
)

// Image is one page for a vision model: upright, at most MaxSide a side, in RGB on
// white, without the metadata of the original, and encoded again as JPEG.
type Image struct {
	JPEG          []byte
	Width, Height int // in pixels
	Page          int // from 1; 1 for an image file
}

// Sheet is a loaded sheet.
type Sheet struct {
	Kind   Kind
	Images []Image
}

// JPEGs returns the pages as the files that a model is given.
func (s *Sheet) JPEGs() [][]byte {
	files := make([][]byte, len(s.Images))
	for i, image := range s.Images {
		files[i] = image.JPEG
	}
	return files
}

// Options configure a Loader. The zero value is ready for use.
type Options struct {
	Client *fetch.Client // for Fetch; the caller closes it
	Hosts  *Hosts        // for Fetch; nil means the known hosts, see NewHosts

	// AllowLoopback allows sheets on this machine, for tests and the demo. It must
	// be set in code, never from configuration.
	AllowLoopback bool

	// Timeout is the maximum time of one Load, with waiting. 0 means 30 s.
	Timeout time.Duration
	// CacheDir is the directory for the compiled PDF reader (20 MB), so that
	// another process need not compile it again. Only this user may write there,
	// because its content is executed. Empty, or a directory that cannot be
	// created, means that it is kept in memory.
	CacheDir string
}

// DefaultMemory is the memory in bytes that the largest accepted sheet needs for decoding;
// memoryFor estimates it. Further loads wait.
const DefaultMemory = 256 << 20

// Loader loads sheets. It is safe for concurrent use. Close it at the end.
type Loader struct {
	options Options
	places  *pace.Places        // of those for whom files are loaded, in turns
	turn    *semaphore.Weighted // of bytes
	engine  engine
}

// NewLoader returns a Loader. The first PDF starts the PDF reader.
func NewLoader(options Options) (*Loader, error) {
	if options.Timeout < 0 {
		return nil, errors.New("sheet: negative timeout")
	}
	if options.Timeout == 0 {
		options.Timeout = defaultTimeout
	}
	if options.Hosts == nil {
		hosts, err := NewHosts()
		if err != nil {
			return nil, err
		}
		options.Hosts = hosts
	}
	return &Loader{
		options: options, places: pace.NewPlaces(loadsAtOnce), turn: semaphore.NewWeighted(DefaultMemory + memoryOfAnother),
		engine: engine{cacheDir: options.CacheDir},
	}, nil
}

// memoryOfAnother is left for an ordinary sheet of another owner while one load has all that
// a load may have.
const memoryOfAnother = 96 << 20

// loadsAtOnce is how many files are loaded at once. One owner never has all the places, so
// that its files do not stop those of others.
const loadsAtOnce = 2

// Close stops the PDF reader. No Load may be running.
func (l *Loader) Close() error { return l.engine.close() }

// Load makes pictures of the bytes of a file that came from anywhere. Errors
// are *fetch.Error with a code of this package, or ctx's own when it was cancelled.
// data is not kept.
func (l *Loader) Load(ctx context.Context, data []byte) (*Sheet, error) {
	if len(data) > MaxBytes {
		return nil, tooLarge(nil)
	}
	kind, err := sniff(data)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	release, err := l.places.Take(ctx, pace.Owner(ctx))
	if err != nil {
		return nil, interrupted(ctx)
	}
	defer release()
	sheet := &Sheet{Kind: kind}
	if kind == PDF {
		sheet.Images, err = l.pages(ctx, data)
	} else {
		sheet.Images, err = l.picture(ctx, kind, data)
	}
	if err != nil {
		return nil, err
	}
	return sheet, nil
}

func tooLarge(cause error) error {
	return refused(TooLarge, nil, cause)
}
