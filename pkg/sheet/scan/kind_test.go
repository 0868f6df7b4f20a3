package scan

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
)

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
