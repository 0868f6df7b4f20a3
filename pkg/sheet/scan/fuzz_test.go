package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"testing"

	"ushuru/pkg/fetch"
)

// seeds are one file of every kind, small but large enough to be let in.
func seeds(f *testing.F) {
	f.Helper()
	page := drawn(400, 300)
	f.Add(withSegment(asJPEG(f, page), 0xe1, append([]byte("Exif\x00\x00"), tiff(binary.BigEndian, 6)...)))
	f.Add(withPNGChunk(asPNG(f, page), "eXIf", tiff(binary.LittleEndian, 8)))
	f.Add(asGIF(f, page))
	f.Add(asWebP(page, tiff(binary.BigEndian, 3)))
	f.Add(pagesPDF(595, 842, someText))
	f.Add([]byte("\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1heic"))
}

func FuzzHeaders(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, err := sniff(data)
		if (kind == "") == (err == nil) {
			t.Errorf("%q and %v", kind, err)
		}
		for _, kind := range []Kind{JPEG, PNG, WebP, GIF, PDF} {
			if turned := orientation(kind, data); turned < 1 || turned > 8 {
				t.Errorf("%s: orientation %d", kind, turned)
			}
			if need := memoryFor(kind, data, image.Config{Width: 1000, Height: 1000}); need < 1000*1000 {
				t.Errorf("%s: %d bytes for a million pixels", kind, need)
			}
		}
		if turned := orientation(WebP, withEXIF(data)); turned < 1 || turned > 8 {
			t.Errorf("orientation %d", turned)
		}
	})
}

// Of PDFs only what stands before PDFium is tried here: it has fuzzers of its
// own, and a sandbox.
func FuzzLoad(f *testing.F) {
	seeds(f)
	loader := newLoader(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(trimmed(data), []byte("%PDF-")) && complete(data) {
			return
		}
		sheet, err := loader.Load(context.Background(), data)
		if err != nil {
			if failure, ok := errors.AsType[*fetch.Error](err); !ok || failure.Code == "" || failure.Message == "" {
				t.Errorf("%v cannot be shown", err)
			}
			return
		}
		for _, page := range sheet.Images {
			long, short := max(page.Width, page.Height), min(page.Width, page.Height)
			if long > MaxSide || short < MinSide || kindOf(page.JPEG) != JPEG {
				t.Errorf("%d by %d", page.Width, page.Height)
			}
		}
	})
}

func FuzzCanonical(f *testing.F) {
	f.Add("https://i.aleado.ru/pic/?system=auto&number=0&h=480")
	f.Add("https://8.ajes.com/imgs/a%26b&w=1&h=2")
	f.Add("http://AJES.com:80/?#")
	hosts, err := NewHosts()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, rawURL string) {
		once, err := hosts.Canonical(rawURL, false)
		if err != nil {
			return
		}
		if twice, err := hosts.Canonical(once, false); twice != once || err != nil {
			t.Errorf("%q, then %q, %v", once, twice, err)
		}
	})
}
