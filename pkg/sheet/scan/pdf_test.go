package scan

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/testenv"

	"go.uber.org/goleak"
)

// shared is the Loader of all tests that read PDFs, for its start takes long.
var shared = sync.OnceValues(func() (*Loader, error) {
	dir, _ := os.UserCacheDir() // none: it takes longer
	return NewLoader(Options{CacheDir: filepath.Join(dir, "ushuru", "pdf"), Timeout: 4 * time.Minute})
})

func TestMain(m *testing.M) {
	status := m.Run()
	loader, err := shared()
	if err == nil {
		err = loader.Close()
	}
	if err == nil {
		err = goleak.Find()
	}
	if err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// pdfLoader returns a Loader whose PDF reader is ready.
func pdfLoader(t testing.TB) *Loader {
	t.Helper()
	loader, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loader.engine.use(t.Context()); err != nil {
		t.Fatal(err)
	}
	return loader
}

// onePDF writes a PDF by hand: objects in order, the first the catalogue.
func onePDF(trailer string, objects ...string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var table strings.Builder
	fmt.Fprintf(&table, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "%strailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n",
		table.String(), len(objects)+1, trailer, start)
	return out.Bytes()
}

func stream(dictionary, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dictionary, len(content), content)
}

// pagesPDF is a PDF of pages of one size in points, each with its content.
func pagesPDF(width, height int, contents ...string) []byte {
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", ""}
	var kids strings.Builder
	for _, content := range contents {
		fmt.Fprintf(&kids, "%d 0 R ", len(objects)+1)
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Contents %d 0 R/Resources<</Font<</F<<"+
				"/Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>", width, height, len(objects)+2),
			stream("", content))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), len(contents))
	return onePDF("", objects...)
}

// someText is a page with lines of text and a red square at its upper left.
const someText = "1 0 0 rg 50 700 100 100 re f 0 g BT /F 12 Tf 14 TL 50 600 Td " +
	"(MAKE TOYOTA MODEL COROLLA) ' (GRADE 4.5 INTERIOR B) ' (MILEAGE 63120 KM) ' (A1 U2 W1) ' ET"

// scanPDF is a page that is one picture, as scanners make them.
func scanPDF(t testing.TB, page image.Image) []byte {
	t.Helper()
	size := page.Bounds().Size()
	return onePDF("",
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>",
		stream("", "595 0 0 842 0 0 cm /I Do"),
		stream(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode",
			size.X, size.Y), string(asJPEG(t, page))),
	)
}

// endlessPDF has the colour of each of its points computed, at great length and
// many times over: hours of work in no more memory than the page takes.
func endlessPDF() []byte {
	return onePDF("",
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Shading<</S 5 0 R>>>>>>",
		stream("", strings.Repeat("/S sh ", 100)),
		"<</ShadingType 1/ColorSpace/DeviceGray/Domain[0 595 0 842]/Function 6 0 R>>",
		stream("/FunctionType 4/Domain[0 595 0 842]/Range[0 1]", "{ add "+strings.Repeat("sin cos ", 5000)+"}"),
	)
}

// formsPDF draws a form that draws the next one ten times, and so on: it takes
// all the memory that it can get.
func formsPDF() []byte {
	const depth = 12
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</N 5 0 R>>>>>>",
		stream("", "/N Do"),
	}
	for i := range depth {
		content := strings.Repeat("/N Do ", 10)
		if i == depth-1 {
			content = "0 0 10 10 re f"
		}
		objects = append(objects, stream(fmt.Sprintf(
			"/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</N %d 0 R>>>>", len(objects)+2), content))
	}
	return onePDF("", objects...)
}

func TestPDFIsDrawnUprightInItsColours(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"text": pagesPDF(595, 842, someText),
		// An empty second page is no second page.
		"text and nothing": pagesPDF(595, 842, someText, ""),
	} {
		sheet, err := pdfLoader(t).Load(t.Context(), data)
		if err != nil {
			t.Fatal(name, err)
		}
		if sheet.Kind != PDF || len(sheet.Images) != 1 {
			t.Fatalf("%s: got %s of %d pages", name, sheet.Kind, len(sheet.Images))
		}
		page, err := jpeg.Decode(bytes.NewReader(sheet.Images[0].JPEG))
		if err != nil {
			t.Fatal(name, err)
		}
		if size := page.Bounds().Size(); size != (image.Point{1447, 2048}) {
			t.Errorf("%s: %v", name, size)
		}
		scale := 2048.0 / 842
		square := page.At(int(100*scale), int((842-750)*scale))
		if r, g, b, _ := square.RGBA(); r < 0xf000 || g > 0x1000 || b > 0x1000 {
			t.Errorf("%s: the red square is %v", name, square)
		}
		if paper := color.GrayModel.Convert(page.At(1400, 2000)); paper != (color.Gray{0xff}) {
			t.Errorf("%s: the paper is %v", name, paper)
		}
	}
}

func TestScannedPDFIsDrawn(t *testing.T) {
	t.Parallel()
	sheet, err := pdfLoader(t).Load(t.Context(), scanPDF(t, drawn(1240, 1754)))
	if err != nil {
		t.Fatal(err)
	}
	if len(sheet.Images) != 1 || sheet.Images[0].Height != MaxSide {
		t.Errorf("got %d pages", len(sheet.Images))
	}
}

func TestPagesAreNumbered(t *testing.T) {
	t.Parallel()
	sheet, err := pdfLoader(t).Load(t.Context(), pagesPDF(595, 842, someText, "", someText))
	if err != nil {
		t.Fatal(err)
	}
	if len(sheet.Images) != 2 || sheet.Images[0].Page != 1 || sheet.Images[1].Page != 3 {
		t.Errorf("got %d pages", len(sheet.Images))
	}
}

func TestPDFsThatAreRefused(t *testing.T) {
	t.Parallel()
	whole := pagesPDF(595, 842, someText)
	scan := scanPDF(t, drawn(1240, 1754))
	for _, test := range []struct {
		name string
		data []byte
		code string
	}{
		{"200 pages", pagesPDF(595, 842, repeated(someText, 200)...), TooManyPages},
		{"5 pages", pagesPDF(595, 842, repeated(someText, MaxPages+1)...), TooManyPages},
		{"bitten off", whole[:len(whole)/2], Damaged},
		{"a scan without its end", scan[:len(scan)*3/4], Damaged},
		{"nothing but a beginning and an end", []byte("%PDF-1.4\n%%EOF"), Damaged},
		{"no pages", pagesPDF(595, 842), Damaged},
		{"a password", onePDF(fmt.Sprintf("/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%064d>/U<%064d>>>", 1, 2),
			"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"), Encrypted},
		{"blank pages", pagesPDF(595, 842, "", ""), Blank},
		{"a strip", pagesPDF(2000, 100, someText), TooSmall},
		{"more than the memory it gets", formsPDF(), Damaged},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := pdfLoader(t).Load(t.Context(), test.data)
			wantRefused(t, err, test.code)
		})
	}
}

func TestPDFThatNeverEndsIsGivenUp(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	ready := pdfLoader(t)
	loader := &Loader{options: ready.options, places: ready.places, turn: ready.turn}
	loader.engine.starting, loader.engine.compiled = ready.engine.starting, ready.engine.compiled
	loader.options.Timeout = 3 * time.Second
	_, err := loader.Load(t.Context(), endlessPDF())
	wantRefused(t, err, Timeout)
	if failure, _ := errors.AsType[*fetch.Error](err); failure == nil || !failure.Retryable {
		t.Error("a timeout may go better next time")
	}
	if _, err := ready.Load(t.Context(), pagesPDF(595, 842, someText)); err != nil {
		t.Error("the next one suffers:", err)
	}
}

func repeated(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

// wantRefused checks the code of an error and that it can be shown.
func wantRefused(t *testing.T, err error, code string) {
	t.Helper()
	failure, ok := errors.AsType[*fetch.Error](err)
	if !ok || failure.Code != code || !strings.HasSuffix(failure.Message, ".") {
		t.Errorf("got %v, want %s", err, code)
	}
	if ok && failure.Code != code {
		t.Errorf("code %s, cause %v", failure.Code, failure.Cause)
	}
}
