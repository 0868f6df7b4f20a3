package sheettest

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"math"

	ximage "golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
)

// Variant is what scanning and sending do to a sheet.
type Variant struct {
	Turn    float64 `json:"turn"`    // degrees, clockwise
	Blur    int     `json:"blur"`    // radius in pixels
	Width   int     `json:"width"`   // pixels; 0: as drawn
	Quality int     `json:"quality"` // of JPEG
}

// variants are those of the seeds, in turn.
var variants = []Variant{
	{Quality: 85},
	{Turn: 1.8, Quality: 80},
	{Blur: 1, Quality: 75},
	{Quality: 30},
	{Turn: -2.5, Blur: 1, Quality: 50},
	{Width: 900, Quality: 70},
	{Turn: 0.7, Width: 1000, Quality: 40},
}

// apply turns, blurs and resizes a page.
func (v Variant) apply(page image.Image) image.Image {
	out := page
	if v.Turn != 0 {
		out = turn(out, v.Turn)
	}
	for range v.Blur {
		out = blur(out)
	}
	if v.Width > 0 {
		b := out.Bounds()
		small := image.NewRGBA(image.Rect(0, 0, v.Width, b.Dy()*v.Width/b.Dx()))
		ximage.BiLinear.Scale(small, small.Bounds(), out, b, draw.Src, nil)
		out = small
	}
	return out
}

// turn turns around the middle, on paper of the same size.
func turn(page image.Image, degrees float64) image.Image {
	b := page.Bounds()
	out := image.NewRGBA(b)
	draw.Draw(out, b, image.NewUniform(pale), image.Point{}, draw.Src)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	cx, cy := float64(b.Dx())/2, float64(b.Dy())/2
	// Turned a little, the corners stay on the paper when it shrinks a little.
	shrink := 1 - math.Abs(sin)
	sin, cos = sin*shrink, cos*shrink
	matrix := f64.Aff3{cos, -sin, cx - cos*cx + sin*cy, sin, cos, cy - sin*cx - cos*cy}
	ximage.ApproxBiLinear.Transform(out, matrix, page, b, draw.Over, nil)
	return out
}

// blur takes of each point the mean of nine.
func blur(page image.Image) image.Image {
	b := page.Bounds()
	from := image.NewRGBA(b)
	draw.Draw(from, b, page, b.Min, draw.Src)
	out := image.NewRGBA(b)
	copy(out.Pix, from.Pix)
	for y := 1; y < b.Dy()-1; y++ {
		for i := y*from.Stride + 4; i < y*from.Stride+4*(b.Dx()-1); i++ {
			sum := 0
			for _, row := range []int{i - from.Stride, i, i + from.Stride} {
				sum += int(from.Pix[row-4]) + int(from.Pix[row]) + int(from.Pix[row+4])
			}
			out.Pix[i] = byte(sum / 9)
		}
	}
	return out
}

// encode writes a JPEG.
func (v Variant) encode(page image.Image) ([]byte, error) {
	var b bytes.Buffer
	quality := v.Quality
	if quality == 0 {
		quality = 85
	}
	err := jpeg.Encode(&b, page, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}
