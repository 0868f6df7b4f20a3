package scan

import (
	"context"
	"image"
	"image/draw"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
)

// fit returns the size of an image whose longest side is at most maxSide, in the
// same proportions. It never enlarges.
func fit(width, height, maxSide int) (int, int) {
	long := max(width, height)
	if long <= maxSide {
		return width, height
	}
	scale := func(side int) int {
		return max(1, int((int64(side)*int64(maxSide)+int64(long)/2)/int64(long)))
	}
	return scale(width), scale(height)
}

// shrink draws an image on white in a size that is not larger. Each pixel of the
// result is the mean of the area that it covers, so that thin strokes become pale
// but do not disappear. Besides the result it needs memory for a few rows only;
// x/image/draw needs 32 bytes for each column of the result in each row of the
// original.
func shrink(ctx context.Context, from image.Image, width, height int) (*image.RGBA, error) {
	bounds := from.Bounds()
	result := image.NewRGBA(image.Rect(0, 0, width, height))
	row := image.NewRGBA(image.Rect(0, 0, bounds.Dx(), 1))
	columns := shares(bounds.Dx(), width)
	narrow, sums := make([]float32, 3*width), make([]float32, 3*width)
	scale := float32(width) / float32(bounds.Dx()) * float32(height) / float32(bounds.Dy())
	for y, share := range shares(bounds.Dy(), height) {
		if stopped := interrupted(ctx); stopped != nil {
			return nil, stopped
		}
		draw.Draw(row, row.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(row, row.Rect, from, image.Pt(bounds.Min.X, bounds.Min.Y+y), draw.Over)
		narrowRow(narrow, row.Pix, columns)
		for i, value := range narrow {
			sums[i] += share.here * value
		}
		if !share.last {
			continue
		}
		out := result.Pix[share.to*result.Stride:]
		for x := range width {
			for c := range 3 {
				out[4*x+c] = uint8(sums[3*x+c]*scale + 0.5)
			}
			out[4*x+3] = 0xff
		}
		for i, value := range narrow {
			sums[i] = (1 - share.here) * value
		}
	}
	return result, nil
}

// share is the place of one pixel of a longer line in a shorter line.
type share struct {
	to   int     // index in the shorter line
	here float32 // the fraction of it; the rest goes to the next pixel
	last bool    // it is the last part of that pixel
}

// shares distributes a line of from pixels over a line of to pixels, to <= from.
func shares(from, to int) []share {
	list := make([]share, from)
	for i := range list {
		first := i * to / from
		s := share{to: first, here: 1, last: (i+1)*to >= (first+1)*from}
		if s.last {
			s.here = float32((first+1)*from-i*to) / float32(to)
		}
		list[i] = s
	}
	return list
}

// narrowRow adds up a row of pixels into the columns of a shorter one.
func narrowRow(narrow []float32, pixels []uint8, columns []share) {
	clear(narrow)
	for x, share := range columns {
		pixel := pixels[4*x : 4*x+3 : 4*x+3]
		into := narrow[3*share.to:]
		for c, value := range pixel {
			into[c] += share.here * float32(value)
		}
		if share.here < 1 && len(into) >= 6 {
			for c, value := range pixel {
				into[3+c] += (1 - share.here) * float32(value)
			}
		}
	}
}

// turns say, by the EXIF orientation, how x and y of the upright image follow from x and y of the
// original (Exif 2.32, tag 0x0112): 2 to 4 are mirrored or upside down, 5 to 8 lie on a side.
var turns = [...][4]float64{
	2: {-1, 0, 0, 1}, 3: {-1, 0, 0, -1}, 4: {1, 0, 0, -1}, 5: {0, 1, 1, 0}, 6: {0, -1, 1, 0}, 7: {0, -1, -1, 0}, 8: {0, 1, -1, 0},
}

// upright turns an image as its EXIF orientation says.
func upright(from *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 || orientation >= len(turns) {
		return from
	}
	turn, size := turns[orientation], from.Rect.Size()
	start := func(byX, byY float64) float64 { // where a side begins that is counted from its end
		return max(0, -byX*float64(size.X), -byY*float64(size.Y))
	}
	result := image.NewRGBA(image.Rect(0, 0, size.X, size.Y))
	if turn[0] == 0 {
		result = image.NewRGBA(image.Rect(0, 0, size.Y, size.X))
	}
	xdraw.NearestNeighbor.Transform(result, f64.Aff3{
		turn[0], turn[1], start(turn[0], turn[1]), turn[2], turn[3], start(turn[2], turn[3]),
	}, from, from.Rect, draw.Src, nil)
	return result
}
