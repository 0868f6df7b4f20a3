package web_test

import (
	"bytes"
	"context"
	"flag"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
)

var pictures = flag.Bool("pictures", false, "write the pictures of the README again")

// readmePictures are what the README shows, by their files in docs: the answer as two
// buyers see it.
var readmePictures = map[string]struct{ lang, scheme string }{
	"answer.png": {"en", "light"}, "answer-sw.png": {"sw", "dark"},
}

// Their width, and how many bytes a picture may have.
const (
	pictureWidth = 360
	maxPicture   = 150 << 10
)

// TestTheReadmeShowsThePages checks the two pictures of the README. With -pictures it
// makes them first, as Chromium shows the demo on a phone.
func TestTheReadmeShowsThePages(t *testing.T) {
	if *pictures {
		service, b := start(t), open(t)
		b.view(pictureWidth, "light")
		b.ask(service.URL+"/", service.Site+listingtest.Cars()[0].Path())
		address := b.text("location.origin + location.pathname")
		for name, look := range readmePictures {
			b.view(pictureWidth, look.scheme)
			b.run(chromedp.Navigate(address+"?lang="+look.lang), chromedp.WaitVisible("#number"))
			b.capture(testenv.InRepository(t, "docs", name))
		}
	}
	readme, err := os.ReadFile(testenv.InRepository(t, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range readmePictures {
		data, err := os.ReadFile(testenv.InRepository(t, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		size, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil || size.Width < pictureWidth || len(data) > maxPicture {
			t.Errorf("%s: %d bytes, %d px wide, %v", name, len(data), size.Width, err)
		}
		if !strings.Contains(string(readme), "docs/"+name) {
			t.Errorf("the README does not show %s", name)
		}
	}
}

// capture writes a picture of the page down to the questions for the seller.
func (b *browser) capture(file string) {
	b.t.Helper()
	var (
		picture []byte
		height  float64
	)
	b.run(chromedp.Evaluate(`document.querySelector("section[aria-labelledby=ask]").getBoundingClientRect().bottom + 16`, &height))
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		picture, err = page.CaptureScreenshot().WithCaptureBeyondViewport(true).
			WithClip(&page.Viewport{Width: pictureWidth, Height: height, Scale: 1}).Do(ctx)
		return err
	}))
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
