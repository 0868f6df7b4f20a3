// Package scan makes images of an inspection sheet that the AI can be given.
//
// A sheet comes from a stranger, by a URL or an upload. A Loader judges a file
// by its bytes, not by its name; it checks the header before it decodes; and it
// draws every image again, so that no byte of the original, and no text that
// cannot be seen in it, reaches the AI.
package scan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"ushuru/pkg/fetch"
)

// Limits of a sheet. Real ones are one page (two for some trucks), a few
// hundred kilobytes from an auction site and up to ten megabytes from a phone.
const (
	// MaxBytes is for the file. An upload should be refused above it (413)
	// before it is read to its end; leave some 64 KB on top for the envelope of
	// multipart/form-data.
	MaxBytes = 12 << 20
	// MaxPages is for a PDF. One of more pages is refused and not cut: which
	// pages are the sheet only the caller knows, and a page left out unsaid
	// could be the one with the damage.
	MaxPages = 4
	// MaxPixels is for a picture as it is sent, by its header, before it is
	// decoded. Phones take 12 to 50 megapixels.
	MaxPixels = 52_000_000

	// MaxSide is the longest side in pixels of what comes out, MinSide the
	// shortest and MinLongSide the least length of its longest. Vision models
	// look at no more than some 2,000 pixels of a side; the smallest tiles of
	// auction sites (128 by 96 for "no picture", thumbnails 320 wide) cannot be
	// read by anybody.
	MaxSide     = 2048
	MinSide     = 300
	MinLongSide = 400
)

// Image is one page ready for a vision model: upright, at most MaxSide a
// side, in RGB on white, without any of the metadata of the original, and
// compressed again as JPEG (quality 90).
type Image struct {
	JPEG          []byte
	Width, Height int // in pixels
	Page          int // from 1; 1 for what has no pages
}

// Sheet is a loaded sheet.
type Sheet struct {
	Kind   Kind
	SHA256 string // of the original bytes, in hex: the same file is the same sheet
	Bytes  int    // of the original
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
	Client *fetch.Client // for Fetch; it stays the caller's
	Hosts  *Hosts        // for Fetch; nil: those that are known, see NewHosts

	// AllowLoopback lets sheets be fetched from this machine. It is for tests
	// and the demo and must be set in code, never from configuration.
	AllowLoopback bool

	// Memory bounds what all loads together may need for decoding, in bytes;
	// the others wait. 0 and anything less than one load can need:
	// DefaultMemory, which is just that.
	Memory int64
	// Timeout is for one Load, waiting included; 0: 30 s.
	Timeout time.Duration
	// CacheDir keeps the PDF reader as machine code (20 MB), so that another
	// process need not translate it again. No other user may be able to write
	// there, because it is executed. "", or one that cannot be made: memory.
	CacheDir string
}

// DefaultMemory is what the greediest sheet that is let in needs for decoding.
// See picturememory.go for how much of it which picture takes.
const DefaultMemory = 256 << 20

// Loader loads sheets. It is safe for concurrent use; Close it in the end.
type Loader struct {
	options Options
	turn    *semaphore.Weighted // of bytes
	engine  engine
}

// NewLoader returns a Loader. It costs nothing yet: the PDF reader is started
// by the first PDF.
func NewLoader(options Options) (*Loader, error) {
	if options.Memory < 0 || options.Timeout < 0 {
		return nil, errors.New("sheet: negative memory or timeout")
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
	options.Memory = max(options.Memory, DefaultMemory)
	return &Loader{
		options: options, turn: semaphore.NewWeighted(options.Memory), engine: engine{cacheDir: options.CacheDir},
	}, nil
}

// Close ends the PDF reader. No Load may be under way.
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
	sum := sha256.Sum256(data)
	sheet := &Sheet{Kind: kind, SHA256: hex.EncodeToString(sum[:]), Bytes: len(data)}
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
	return refused(TooLarge, "The file is larger than 12 MB. Send a smaller image.", cause)
}
