// Package scan makes images of an inspection sheet that the AI can be given.
//
// A sheet comes from a stranger, by a URL or an upload. A Loader judges a file
// by its bytes, not by its name; it checks the header before it decodes; and it
// draws every image again, so that no byte of the original, and no text that
// cannot be seen in it, reaches the AI.
package scan

import (
	"bytes"
	"context"
	"errors"
	"image"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

// Codes of the errors of this package.
const (
	HostUnsupported = "sheet_host_unsupported"   // the URL's host is not on the list
	NotFound        = "sheet_not_found"          // the site does not have the sheet
	Blocked         = "sheet_blocked"            // the site refuses the download; temporary for 429 and 503
	TooLarge        = "sheet_too_large"          // more than MaxBytes
	TypeUnsupported = "sheet_type_unsupported"   // by its content neither JPEG, PNG, WebP, GIF nor PDF
	Damaged         = "sheet_damaged"            // of a supported type, but it cannot be decoded
	Encrypted       = "sheet_encrypted"          // a PDF with a password
	TooManyPages    = "sheet_too_many_pages"     // more than MaxPages
	TooManyPixels   = "sheet_too_many_pixels"    // more than MaxPixels, or too much memory to decode
	TooSmall        = "sheet_too_small"          // too few pixels to be read, or a strip
	Blank           = "sheet_blank"              // a page without content
	Timeout         = "sheet_timeout"            // not decoded in time; temporary when it waited for others
	Unavailable     = "sheet_reader_unavailable" // our own PDF reader could not be started; temporary
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

// defaultTimeout is the maximum time of one Load, with waiting.
const defaultTimeout = 30 * time.Second

// How long the processor may be used for a picture and for a document. A picture of a phone
// takes half a second.
const (
	maxPicture  = slowness * 3 * time.Second
	maxDocument = slowness * 10 * time.Second
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

// sniff returns the kind of a file by its first bytes, or a sheet_type_unsupported
// error that says what the file is and what to do. It ignores the name and the
// Content-Type, which are only claims.
func sniff(data []byte) (Kind, error) {
	kind := kindOf(data)
	switch {
	case len(data) == 0:
		return "", unsupported("file_empty")
	case kind != "":
		return kind, nil
	case bytes.HasPrefix(trimmed(data), []byte("%PDF-")):
		return PDF, nil
	}
	return "", unsupported(otherKind(data))
}

// trimmed removes a byte order mark and white space before the content.
func trimmed(data []byte) []byte {
	head := data[:min(len(data), 1024)]
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\x00")
}

func unsupported(what string) error {
	return refused(TypeUnsupported, message.Values{"kind": what}, nil)
}

// otherKind returns the word for what an unsupported file is.
func otherKind(data []byte) string {
	for _, magic := range []struct{ prefix, what string }{
		{"PK\x03\x04", "file_zip"},
		{"PK\x05\x06", "file_zip_empty"},
		{"Rar!", "file_rar"},
		{"7z\xbc\xaf\x27\x1c", "file_7z"},
		{"\x1f\x8b", "file_gzip"},
		{"II*\x00", "file_tiff"},
		{"MM\x00*", "file_tiff"},
		{"BM", "file_bmp"},
		{"\xff\x0a", "file_jxl"},
		{"\x00\x00\x00\x0cJXL ", "file_jxl"},
		{"\x00\x00\x00\x0cjP  ", "file_jp2"},
		{"\xd0\xcf\x11\xe0", "file_office"},
	} {
		if bytes.HasPrefix(data, []byte(magic.prefix)) {
			return magic.what
		}
	}
	if brand := isoBrand(data); brand != "" {
		return brand
	}
	text := strings.ToLower(string(trimmed(data)))
	switch {
	case strings.Contains(text, "<svg"):
		return "file_svg"
	case strings.HasPrefix(text, "<"):
		return "file_page"
	}
	return "file_unknown"
}

// isoBrand reads the brands of an ISO base media file (ISO/IEC 14496-12, 4.3):
// images of iPhones, AVIF and videos.
func isoBrand(data []byte) string {
	if len(data) < 12 || string(data[4:8]) != "ftyp" {
		return ""
	}
	for at := 8; at+4 <= min(len(data), 64); at += 4 {
		switch string(data[at : at+4]) {
		case "avif", "avis":
			return "file_avif"
		case "heic", "heix", "heim", "heis", "hevc", "hevx":
			return heic
		}
	}
	if brand := string(data[8:12]); brand == "mif1" || brand == "msf1" {
		return heic
	}
	return "file_video"
}

const heic = "file_heic"

// decodingMemory estimates from the header how many bytes the decoder of an image needs. The
// estimate is rather too high.
func decodingMemory(kind Kind, data []byte, config image.Config) int64 {
	pixels := int64(config.Width) * int64(config.Height)
	perPixel := int64(4)
	switch kind {
	case JPEG:
		perPixel = jpegBytesPerPixel(data)
	case PNG:
		perPixel = pngBytesPerPixel(data)
	case GIF:
		perPixel = 2 // interlaced: the rows once more, in their order
	case WebP:
		// Lossless: the pixels, and once more as they come out of the stream.
		perPixel = 8
	case PDF:
	}
	return pixels * perPixel
}

// pngBytesPerPixel returns the bytes of a decoded pixel: 4, or 8 with 16 bits a
// channel; half as much again for an interlaced image, whose last pass is kept.
func pngBytesPerPixel(data []byte) int64 {
	const depth, interlace = 24, 28 // PNG, 11.2.2, behind signature, length and name
	perPixel := int64(4)
	if len(data) > depth && data[depth] == 16 {
		perPixel = 8
	}
	if len(data) > interlace && data[interlace] != 0 {
		perPixel += perPixel / 2
	}
	return perPixel
}

// jpegBytesPerPixel returns the bytes of a decoded pixel: one for each channel, as if
// none were subsampled; 4 more for each coefficient of a progressive image; 4 more
// for RGB and CMYK, which are converted.
func jpegBytesPerPixel(data []byte) int64 {
	frame := readJPEG(data)
	perPixel := int64(frame.channels)
	if frame.progressive {
		perPixel *= 5
	}
	if frame.channels == 4 || frame.rgb {
		perPixel += 4
	}
	return perPixel
}

// withProcessor returns a context that ends, for the cause of errTooLong, when the calling goroutine has
// used the processor for longer than most. A machine that is slow because others work on it
// has so long a file none the less. The goroutine stays on its thread until stop.
func withProcessor(parent context.Context, most time.Duration) (ctx context.Context, stop func()) {
	runtime.LockOSThread()
	used := threadTime()
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		// A thread uses no more processor than time goes by: the next look need not be earlier.
		for left := most - used(); ; left = most - used() {
			if left <= 0 {
				cancel(errTooLong)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(left, time.Millisecond)):
			}
		}
	}()
	return ctx, func() { cancel(nil); runtime.UnlockOSThread() }
}

func refused(code string, values message.Values, cause error) error {
	return &fetch.Error{Notice: message.New("error/"+code, values), Cause: cause}
}

// errTooLong means that the file itself needs more of the processor than one may: another try does too.
var errTooLong = errors.New("scan: the file takes too long to decode")

// tooLong refuses a file that takes too long.
func tooLong(cause error) error { return refused(Timeout+".file", nil, cause) }

// interrupted returns the error for the caller when ctx has ended: a timeout or the
// cancellation. It returns nil when ctx has not ended.
func interrupted(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); errors.Is(cause, errTooLong) {
		return tooLong(cause)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Error{Notice: message.New("error/"+Timeout, nil), Cause: err, Retryable: true}
	}
	return err
}
