package scan

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
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
