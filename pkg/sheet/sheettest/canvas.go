package sheettest

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
)

// The colours of a sheet.
var (
	paper  = color.RGBA{0xfb, 0xfa, 0xf4, 0xff}
	line   = color.RGBA{0x50, 0x60, 0x50, 0xff}
	ink    = color.RGBA{0x18, 0x18, 0x18, 0xff}
	penInk = color.RGBA{0x14, 0x1c, 0x60, 0xff}
	pale   = color.RGBA{0xe4, 0xe6, 0xde, 0xff}
	alarm  = color.RGBA{0xb0, 0x10, 0x10, 0xff}
)

// canvas is a page that is drawn upon.
type canvas struct {
	*image.RGBA
	faces  *faces
	random *rand.Rand // of the hand
}

func newCanvas(size image.Point, seed uint64) (*canvas, error) {
	read, err := fonts()
	if err != nil {
		return nil, err
	}
	c := &canvas{
		RGBA:   image.NewRGBA(image.Rectangle{Max: size}),
		faces:  &faces{fonts: read, sized: map[string]font.Face{}},
		random: rand.New(rand.NewPCG(seed, 0xd2a3)), //nolint:gosec // a hand that shakes is no secret
	}
	c.fill(c.Bounds(), paper)
	return c, nil
}

func (c *canvas) fill(r image.Rectangle, with color.Color) {
	draw.Draw(c.RGBA, r, image.NewUniform(with), image.Point{}, draw.Over)
}

// frame draws a box of lines.
func (c *canvas) frame(r image.Rectangle, with color.Color) {
	c.fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+1), with)
	c.fill(image.Rect(r.Min.X, r.Max.Y-1, r.Max.X, r.Max.Y), with)
	c.fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+1, r.Max.Y), with)
	c.fill(image.Rect(r.Max.X-1, r.Min.Y, r.Max.X, r.Max.Y), with)
}

// writing is how a text looks.
type writing struct {
	font string
	size int // pixels
	ink  color.Color
}

// text writes with its baseline at y and returns where it ends. Characters that
// the font lacks are taken from print.
func (c *canvas) text(x, y int, s string, w writing) int {
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(w.ink), Dot: fixed.P(x, y)}
	for _, r := range s {
		d.Face = c.face(w, r)
		d.DrawString(string(r))
	}
	return d.Dot.X.Ceil()
}

func (c *canvas) face(w writing, r rune) font.Face {
	if face := c.faces.in(w.font, w.size); w.font != "brush" && w.font != "pen" || has(c.faces, w.font, r) {
		return face
	}
	return c.faces.in("print", w.size)
}

// has says whether a font has a character and not an empty box for it.
func has(f *faces, use string, r rune) bool {
	at, err := f.fonts[use].GlyphIndex(nil, r)
	return err == nil && at != 0
}

func (c *canvas) width(s string, w writing) int {
	total := fixed.Int26_6(0)
	for _, r := range s {
		advance, _ := c.face(w, r).GlyphAdvance(r)
		total += advance
	}
	return total.Ceil()
}

// fit writes one line, smaller when it would not fit into the width.
func (c *canvas) fit(x, y, width int, s string, w writing) int {
	for w.size > 10 && c.width(s, w) > width {
		w.size--
	}
	return c.text(x, y, s, w)
}

// paragraph writes texts one after the other, broken into lines, smaller when
// they would not fit.
func (c *canvas) paragraph(in image.Rectangle, texts []string, w writing) {
	for ; w.size > 11; w.size-- {
		if c.lines(in, texts, w, false) {
			break
		}
	}
	c.lines(in, texts, w, true)
}

// lines writes, or only says whether it fits.
func (c *canvas) lines(in image.Rectangle, texts []string, w writing, write bool) bool {
	x, y := in.Min.X, in.Min.Y+w.size
	for _, s := range texts {
		width := c.width(s, w)
		if x > in.Min.X && x+width > in.Max.X {
			x, y = in.Min.X, y+w.size*5/4
		}
		if x+width > in.Max.X && w.size > 11 {
			return false
		}
		if write {
			c.text(x, y, s, w)
		}
		x += width + w.size
	}
	return y <= in.Max.Y
}

// stroke draws a line of some width.
func (c *canvas) stroke(x0, y0, x1, y1, width float64, with color.Color) {
	steps := int(math.Hypot(x1-x0, y1-y0)) + 1
	for i := range steps + 1 {
		at := float64(i) / float64(steps)
		x, y := x0+(x1-x0)*at, y0+(y1-y0)*at
		c.fill(image.Rect(int(x-width/2), int(y-width/2), int(x+width/2)+1, int(y+width/2)+1), with)
	}
}

// circle draws a ring around a box, as a hand does.
func (c *canvas) circle(r image.Rectangle, with color.Color) {
	cx, cy := float64(r.Min.X+r.Max.X)/2, float64(r.Min.Y+r.Max.Y)/2
	rx, ry := float64(r.Dx())/2, float64(r.Dy())/2
	from := c.random.Float64() * 2 * math.Pi
	drift := 0.04 * (c.random.Float64() - 0.5)
	px, py := cx+rx*math.Cos(from), cy+ry*math.Sin(from)
	for i := 1; i <= 44; i++ {
		a := from + float64(i)*0.15
		grow := 1 + drift*float64(i)/10
		x, y := cx+rx*grow*math.Cos(a), cy+ry*grow*math.Sin(a)
		c.stroke(px, py, x, y, 2, with)
		px, py = x, y
	}
}
