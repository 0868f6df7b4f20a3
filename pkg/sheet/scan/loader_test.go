package scan

import (
	"archive/zip"
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// drawn is a page with something on it: a frame, lines, and a dark square near
// its upper left corner, so that it shows which way it stands.
func drawn(width, height int) *image.RGBA {
	page := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			ink := y%40 < 3 || x%120 < 3 || x > width/20 && x < width/4 && y > height/20 && y < height/4
			level := uint8(250)
			if ink {
				level = 20
			}
			page.SetRGBA(x, y, color.RGBA{level, level, level, 0xff})
		}
	}
	return page
}

func asJPEG(t testing.TB, page image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, page, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asPNG(t testing.TB, page image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, page); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asGIF(t testing.TB, page image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := gif.Encode(&out, page, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func newLoader(t testing.TB) *Loader {
	t.Helper()
	loader, err := NewLoader(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := loader.Close(); err != nil {
			t.Error(err)
		}
	})
	return loader
}

func TestPicturesAreLoaded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                  string
		data                  []byte
		kind                  Kind
		wantWidth, wantHeight int
	}{
		{"JPEG", asJPEG(t, drawn(900, 700)), JPEG, 900, 700},
		{"PNG", asPNG(t, drawn(900, 700)), PNG, 900, 700},
		{"GIF", asGIF(t, drawn(900, 700)), GIF, 900, 700},
		{"large JPEG", asJPEG(t, drawn(1800, 2400)), JPEG, 1536, 2048},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sheet, err := newLoader(t).Load(t.Context(), test.data)
			if err != nil {
				t.Fatal(err)
			}
			if sheet.Kind != test.kind || len(sheet.Images) != 1 {
				t.Fatalf("got %s, %d pictures", sheet.Kind, len(sheet.Images))
			}
			got := sheet.Images[0]
			decoded, err := jpeg.Decode(bytes.NewReader(got.JPEG))
			if err != nil {
				t.Fatal(err)
			}
			if size := decoded.Bounds().Size(); got.Page != 1 || size != (image.Point{test.wantWidth, test.wantHeight}) ||
				size != (image.Point{got.Width, got.Height}) {
				t.Errorf("page %d is %v, said to be %d by %d; want %d by %d",
					got.Page, size, got.Width, got.Height, test.wantWidth, test.wantHeight)
			}
		})
	}
}

func aZIP(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	file, err := archive.Create("sheet.jpg")
	if err == nil {
		_, err = file.Write(asJPEG(t, drawn(600, 400)))
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestKindIsTakenFromTheContent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		data string
		kind Kind
	}{
		{"\xff\xd8\xff\xe0", JPEG},
		{"\x89PNG\r\n\x1a\n", PNG},
		{"GIF89a", GIF},
		{"RIFF\x00\x00\x00\x00WEBPVP8L", WebP},
		{"%PDF-1.7", PDF},
		{"\xef\xbb\xbf\n%PDF-1.7", PDF},
	} {
		if kind, err := sniff([]byte(test.data)); kind != test.kind || err != nil {
			t.Errorf("%q is %q, %v; want %s", test.data, kind, err, test.kind)
		}
	}
}

func TestOtherKindsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, data, says string }{
		{"nothing", "", "empty"},
		{"an iPhone's picture", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", "HEIC"},
		{"HEIC by its second brand", "\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1heic", "convert to JPEG"},
		{"HEIC of no codec", "\x00\x00\x00\x10ftypmif1\x00\x00\x00\x00", "HEIC"},
		{"AVIF", "\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1avif", "AVIF"},
		{"a film", "\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isommp42", "video"},
		{"a ZIP named .pdf", string(aZIP(t)), "ZIP"},
		{"a ZIP that is a PDF further on", string(aZIP(t)) + "%PDF-1.4\n%%EOF", "ZIP"},
		{"TIFF", "II*\x00", "TIFF"},
		{"BMP", "BM6\x00", "BMP"},
		{"JPEG XL", "\x00\x00\x00\x0cJXL \r\n\x87\n", "JPEG XL"},
		{"a web page", " <!DOCTYPE html><title>Just a moment...</title>", "web page"},
		{"a drawing", "<?xml version=\"1.0\"?><svg xmlns=\"\"/>", "SVG"},
		{"text", "評価点 4.5", "not a supported image"},
		{"RIFF of sound", "RIFF\x00\x00\x00\x00WAVEfmt ", "not a supported image"},
	} {
		_, err := newLoader(t).Load(t.Context(), []byte(test.data))
		wantRefused(t, err, TypeUnsupported)
		if err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %q does not say %q", test.name, err, test.says)
		}
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
		if got := decodingMemory(JPEG, []byte("\xff\xd8"+c.data), size); got != c.perPixel*16*16 {
			t.Errorf("%s: %d bytes for a pixel", name, got/16/16)
		}
	}
}
