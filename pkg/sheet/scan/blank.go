package scan

import (
	"context"
	"image"
)

// A page is blank when in its thumbnail hardly any pixel differs in brightness from
// the pixels around it. A shadow across an empty page differs only from distant
// pixels, and the thumbnail has no scanner noise. A page with one printed line of
// text is not blank.
const (
	blankSide  = 512 // longest side of the thumbnail, in pixels
	blankBlock = 16  // a pixel is compared with the mean of a square of this side
	blankStep  = 10  // minimum difference, of 255 levels
	blankShare = 500 // at least one pixel of this number must differ
)

func blank(ctx context.Context, page *image.RGBA) (bool, error) {
	width, height := fit(page.Rect.Dx(), page.Rect.Dy(), blankSide)
	small, err := shrink(ctx, page, width, height)
	if err != nil {
		return false, err
	}
	differ := 0
	for top := 0; top < height; top += blankBlock {
		for left := 0; left < width; left += blankBlock {
			block := image.Rect(left, top, left+blankBlock, top+blankBlock).Intersect(small.Rect)
			differ += differing(small, block)
		}
	}
	return differ*blankShare < width*height, nil
}

// differing counts the pixels of a block that differ from its mean.
func differing(from *image.RGBA, block image.Rectangle) int {
	var lights []int
	sum := 0
	for y := block.Min.Y; y < block.Max.Y; y++ {
		for x := block.Min.X; x < block.Max.X; x++ {
			light := brightness(from.Pix[from.PixOffset(x, y):])
			lights, sum = append(lights, light), sum+light
		}
	}
	count := 0
	for _, light := range lights {
		off := light - sum/len(lights)
		if off > blankStep || off < -blankStep {
			count++
		}
	}
	return count
}

// brightness returns the luma of a pixel (ITU-R BT.601), 0 to 255.
func brightness(pixel []uint8) int {
	return (299*int(pixel[0]) + 587*int(pixel[1]) + 114*int(pixel[2])) / 1000
}
