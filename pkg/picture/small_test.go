package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// noise is a picture that no compression makes small.
func noise(width, height int) *image.RGBA {
	random, page := rand.New(rand.NewPCG(1, 2)), image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range page.Pix {
		page.Pix[i] = byte(random.Uint32())
	}
	return page
}

func encoded(t *testing.T, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// withEXIF puts an orientation, and words, behind the start of a JPEG.
func withEXIF(data []byte) []byte {
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00 here lives the seller")
	head := binary.BigEndian.AppendUint16([]byte("\xff\xd8\xff\xe1"), uint16(len(exif)+2))
	return append(append(head, exif...), data[2:]...)
}

func TestPicturesAreMadeSmall(t *testing.T) {
	t.Parallel()
	wide := noise(1600, 900)
	for name, c := range map[string]struct {
		data          []byte
		width, height int
	}{
		"JPEG": {encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, wide, &jpeg.Options{Quality: 40}) }), 640, 360},
		"on its side": {withEXIF(encoded(t, func(b *bytes.Buffer) error {
			return jpeg.Encode(b, image.NewGray(image.Rect(0, 0, 1000, 500)), nil)
		})), 320, 640},
		"PNG":     {encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, noise(300, 200)) }), 300, 200},
		"GIF":     {encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, noise(900, 900), nil) }), 640, 640},
		"a pixel": {encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, noise(1, 1)) }), 1, 1},
	} {
		small, err := NewShrinker().Small(t.Context(), c.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		made, err := jpeg.DecodeConfig(bytes.NewReader(small))
		if err != nil || len(small) > maxSmall || strings.Contains(string(small), "seller") {
			t.Errorf("%s: %d bytes, %v", name, len(small), err)
		}
		if ratio := float64(made.Width*c.height) / float64(made.Height*c.width); made.Width > c.width || ratio < .98 || ratio > 1.02 {
			t.Errorf("%s: %d by %d, want %d by %d or less", name, made.Width, made.Height, c.width, c.height)
		}
	}
}

// hugePNG is a PNG whose header claims a size.
func hugePNG(width, height uint32) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height)
	header = append(header, 8, 6, 0, 0, 0)
	chunk := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), 13)
	return binary.BigEndian.AppendUint32(append(chunk, header...), crc32.ChecksumIEEE(header))
}

func TestWhatIsNoPictureIsUnusable(t *testing.T) {
	t.Parallel()
	whole := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, noise(64, 64), nil) })
	for name, data := range map[string][]byte{
		"nothing": nil, "HTML": []byte("<!doctype html><script>alert(1)</script>"),
		"SVG": []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), "PDF": []byte("%PDF-1.7\n"),
		"ZIP": []byte("PK\x03\x04"), "HTML behind the mark of a GIF": []byte("GIF89a<script>alert(1)</script>"),
		"HTML behind the mark of a JPEG": []byte("\xff\xd8\xff<script>"), "half a JPEG": whole[:len(whole)/2],
		"a bomb of pixels": hugePNG(60_000, 60_000), "a bomb of one row": hugePNG(1<<31-1, 1), "no pixels": hugePNG(0, 5),
		"too large a file": append(bytes.Clone(whole), make([]byte, MaxBytes)...),
	} {
		if small, err := NewShrinker().Small(t.Context(), data); !errors.Is(err, ErrUnusable) || small != nil {
			t.Errorf("%s: %d bytes, %v", name, len(small), err)
		}
	}
}

func TestAPictureThatTakesLongIsUnusable(t *testing.T) {
	t.Parallel()
	slow := &Shrinker{NewShrinker().memory, time.Nanosecond}
	data := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, noise(64, 64), nil) })
	if _, err := slow.Small(t.Context(), data); !errors.Is(err, ErrUnusable) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewShrinker().Small(ended, data); errors.Is(err, ErrUnusable) || !errors.Is(err, context.Canceled) {
		t.Errorf("a picture that was not looked at: %v", err)
	}
}

// The decoder skips what does not belong between the segments. What stands behind it must
// not make the estimate smaller.
func TestMemoryOfAStrangeJPEG(t *testing.T) {
	t.Parallel()
	const gray = "\xff\xc0\x00\x0b\x08\x00\x10\x00\x10\x01\x01\x11\x00"
	const scan = "\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"
	size := image.Config{Width: 16, Height: 16}
	for name, c := range map[string]struct {
		data     string
		perPixel int64
	}{
		"plain":                   {gray + scan, 1},
		"a marker without length": {"\xff\xd0\xff\xfe\xff\xfe" + strings.Repeat("x", 0xfffe-4) + gray + scan, 24},
		"a byte too many":         {gray + "x" + scan, 24},
		"no scan":                 {gray, 24},
	} {
		if got := Memory(JPEG, []byte("\xff\xd8"+c.data), size); got != c.perPixel*16*16 {
			t.Errorf("%s: %d bytes for a pixel", name, got/16/16)
		}
	}
}
