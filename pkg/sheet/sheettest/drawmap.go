package sheettest

import (
	"image"
	"image/color"
)

// carMap draws the unfolded car with its codes, the sides marked 左 and 右.
func (p *page) carMap(in image.Rectangle) {
	in = in.Inset(4)
	width := min(in.Dx(), in.Dy()*3/4)
	in.Min.X += (in.Dx() - width) / 2
	in.Max.X = in.Min.X + width
	spot := func(one panel, side string) image.Rectangle {
		x0, y0, x1, y1 := one.on(side)
		return image.Rect(in.Min.X+in.Dx()*x0/1000, in.Min.Y+in.Dy()*y0/1000, in.Min.X+in.Dx()*x1/1000, in.Min.Y+in.Dy()*y1/1000)
	}
	for _, one := range panels {
		if !one.sided {
			p.frame(spot(one, ""), line)
			continue
		}
		p.frame(spot(one, left), line)
		p.frame(spot(one, right), line)
	}
	small := writing{"label", 15, line}
	p.text(in.Min.X+2, in.Min.Y+20, "左", small)
	p.text(in.Max.X-18, in.Min.Y+20, "右", small)
	p.text(in.Min.X+in.Dx()*24/100, in.Min.Y+16, "前", small)
	w := p.hand("map", 26)
	for _, mark := range p.truth.Marks {
		for _, one := range panels {
			if one.name != mark.Panel {
				continue
			}
			at := spot(one, mark.Side)
			p.text(at.Min.X+(at.Dx()-p.width(mark.Code, w))/2, (at.Min.Y+at.Max.Y)/2+9, mark.Code, w)
		}
	}
}

// tyres draws the four treads and the spare's circle.
func (p *page) tyres(in image.Rectangle) {
	if len(p.truth.Tyres) == 0 {
		return
	}
	small, w := writing{"label", 14, line}, p.hand("tyres", 20)
	x, y := in.Min.X, min(in.Min.Y+30, in.Max.Y-4)
	for i, label := range []string{"左前", "右前", "左後", "右後", "スペア"} {
		x = p.text(x, y, label, small) + 3
		value := p.truth.Tyres[i]
		box := image.Rect(x, y-22, x+34, y+6)
		if i == 4 {
			p.circle(box, line)
		} else {
			p.frame(box, line)
		}
		p.text(x+10, y, value, w)
		x += 42
	}
}

// photo draws what a phone might see that is no sheet: a car before a wall.
func photo() image.Image {
	out := image.NewRGBA(image.Rect(0, 0, 1280, 960))
	c := canvas{RGBA: out}
	for y := range 960 { // sky into asphalt
		shade := uint8(90 + y/8)
		c.fill(image.Rect(0, y, 1280, y+1), color.RGBA{shade, shade, 0xff - shade/2, 0xff})
	}
	for i := range 400 { // texture
		x, y := i*7919%1280, 620+i*104729%340
		c.fill(image.Rect(x, y, x+9, y+3), color.RGBA{0x60, 0x60, 0x58, 0xff})
	}
	body := color.RGBA{0x90, 0x18, 0x20, 0xff}
	c.fill(image.Rect(220, 430, 1080, 640), body)
	c.fill(image.Rect(380, 300, 900, 440), body)
	c.fill(image.Rect(410, 320, 630, 430), color.RGBA{0x30, 0x40, 0x50, 0xff})
	c.fill(image.Rect(650, 320, 870, 430), color.RGBA{0x30, 0x40, 0x50, 0xff})
	for _, x := range []int{380, 920} {
		for r := 80; r > 0; r-- {
			shade := uint8(20 + r/2)
			disc(out, x, 640, r, color.RGBA{shade, shade, shade, 0xff})
		}
	}
	return out
}

func disc(on *image.RGBA, cx, cy, r int, with color.RGBA) {
	for y := -r; y <= r; y++ {
		for x := -r; x <= r; x++ {
			if x*x+y*y <= r*r {
				on.SetRGBA(cx+x, cy+y, with)
			}
		}
	}
}
