package listingtest

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// picture draws a car in a few shapes, with the car's name and the number of
// the picture.
func picture(w http.ResponseWriter, r *http.Request) {
	ref, number, _ := strings.Cut(strings.TrimSuffix(r.PathValue("name"), ".png"), "_")
	at, err := strconv.Atoi(number)
	for _, c := range cars {
		if c.Ref != ref || err != nil || at < 1 || at > c.Images {
			continue
		}
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, c.drawn(at)) // the reader may have left
		return
	}
	http.NotFound(w, r)
}

// drawn is one of the pictures of a car, 640 by 480 pixels.
func (c Car) drawn(at int) image.Image {
	small := image.NewRGBA(image.Rect(0, 0, 320, 240))
	fill := func(area image.Rectangle, with color.Color) {
		draw.Draw(small, area, image.NewUniform(with), image.Point{}, draw.Src)
	}
	//nolint:gosec // ids are positive
	paint := color.RGBA{byte(c.ID * 47 % 256), byte(c.ID * 101 % 256), byte(c.ID * 13 % 256), 255}
	black := color.RGBA{A: 255}
	fill(small.Rect, color.RGBA{238, 238, 255, 255})
	for y := 85; y < 125; y++ { // the cabin is wider below
		fill(image.Rect(120-y/3, y, 190+y/3, y+1), paint)
	}
	fill(image.Rect(30, 122, 290, 160), paint)
	for _, wheel := range []image.Point{{90, 162}, {235, 162}} {
		for y := -22; y <= 22; y++ {
			for x := -22; x <= 22; x++ {
				if x*x+y*y <= 22*22 {
					small.Set(wheel.X+x, wheel.Y+y, black)
				}
			}
		}
	}
	for y, line := range map[int]string{
		36: fmt.Sprintf("SIMULATED %d/%d", at, c.Images), 222: c.Make + " " + c.Model,
	} {
		pen := font.Drawer{Dst: small, Src: image.NewUniform(black), Face: basicfont.Face7x13}
		pen.Dot = fixed.P(160-pen.MeasureString(line).Round()/2, y)
		pen.DrawString(line)
	}
	large := image.NewRGBA(image.Rect(0, 0, 640, 480))
	draw.NearestNeighbor.Scale(large, large.Rect, small, small.Rect, draw.Src, nil)
	return large
}
