package sheets

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
)

// writeSheetCases makes the files that a loader of sheets must survive, and
// some that it must read, and returns their names.
func writeSheetCases(dir string) ([]string, error) {
	photo, err := encodedJPEG(scene{4032, 3024})
	if err != nil {
		return nil, err
	}
	large, err := encodedJPEG(scene{8160, 6120})
	if err != nil {
		return nil, err
	}
	scan, err := encodedJPEG(scene{4960, 7016})
	if err != nil {
		return nil, err
	}
	empty, err := encodedJPEG(scene{})
	if err != nil {
		return nil, err
	}
	bomb, err := encodedPNG(scene{10_000, 10_000})
	if err != nil {
		return nil, err
	}
	archive, err := zipped(photo)
	if err != nil {
		return nil, err
	}
	text := "BT /F 20 Tf 24 TL 50 700 Td " + strings.Repeat("(GRADE 4.5  INTERIOR B  63120 KM) ' ", 20) + "ET"
	one := textPDF(text)
	pages := make([]string, 200)
	for i := range pages {
		pages[i] = text
	}
	cases := []struct {
		name string
		data []byte
	}{
		{"car photo, 12 megapixels.jpg", photo},
		{"car photo, 50 megapixels.jpg", large},
		{"blank page.jpg", empty},
		{"100 megapixels.png", bomb},
		{"zip named.pdf", archive},
		{"bitten.pdf", one[:len(one)/2]},
		{"one page, cold.pdf", one},
		{"one page, warm.pdf", one},
		{"200 pages.pdf", textPDF(pages...)},
		{"scan of A4 at 600 dpi.pdf", picturePDF(scan, 4960, 7016)},
		{"blank page.pdf", textPDF("")},
	}
	files := make([]string, len(cases))
	for i, made := range cases {
		files[i] = filepath.Join(dir, made.name)
		if err := os.WriteFile(files[i], made.data, 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// scene is a picture of shapes and grain that takes no memory; one without size
// is an empty page.
type scene struct{ width, height int }

func (s scene) ColorModel() color.Model { return color.RGBAModel }

func (s scene) Bounds() image.Rectangle {
	if s.width == 0 {
		return image.Rect(0, 0, 2480, 3508)
	}
	return image.Rect(0, 0, s.width, s.height)
}

func (s scene) At(x, y int) color.Color {
	if s.width == 0 {
		return color.RGBA{0xf8, 0xf8, 0xf6, 0xff}
	}
	grain := uint8((x*7 ^ y*13) & 15)
	if (x/200+y/150)%3 == 0 {
		return color.RGBA{60 + grain, 70 + grain, 90 + grain, 0xff}
	}
	fade := func(at, of int) uint8 { return uint8(at * 200 / of) } //nolint:gosec // at is less than of
	return color.RGBA{200 + grain, fade(x, s.width) + grain, fade(y, s.height) + grain, 0xff}
}

func encodedJPEG(picture image.Image) ([]byte, error) {
	var out bytes.Buffer
	err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: 85})
	return out.Bytes(), err
}

func encodedPNG(picture scene) ([]byte, error) {
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, picture)
	return out.Bytes(), err
}

func zipped(content []byte) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	file, err := archive.Create("sheet.jpg")
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(content); err != nil {
		return nil, err
	}
	err = archive.Close()
	return out.Bytes(), err
}

// textPDF is a PDF of A4 pages with the given contents.
func textPDF(contents ...string) []byte {
	objects := make([]string, 0, 2+2*len(contents))
	objects = append(objects, "<</Type/Catalog/Pages 2 0 R>>", "")
	var kids strings.Builder
	for _, content := range contents {
		_, _ = fmt.Fprintf(&kids, "%d 0 R ", len(objects)+1)
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F<<"+
				"/Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>", len(objects)+2),
			pdfStream("", content))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), len(contents))
	return pdfOf(objects)
}

// picturePDF is a PDF of one A4 page that is a JPEG, as scanners make them.
func picturePDF(data []byte, width, height int) []byte {
	return pdfOf([]string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>",
		pdfStream("", "595 0 0 842 0 0 cm /I Do"),
		pdfStream(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceRGB/BitsPerComponent 8"+
			"/Filter/DCTDecode", width, height), string(data)),
	})
}

func pdfStream(dictionary, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dictionary, len(content), content)
}

func pdfOf(objects []string) []byte {
	var out, table bytes.Buffer
	out.WriteString("%PDF-1.4\n")
	_, _ = fmt.Fprintf(&table, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, object := range objects {
		_, _ = fmt.Fprintf(&table, "%010d 00000 n \n", out.Len())
		_, _ = fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	_, _ = fmt.Fprintf(&out, "%strailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n",
		table.String(), len(objects)+1, start)
	return out.Bytes()
}
