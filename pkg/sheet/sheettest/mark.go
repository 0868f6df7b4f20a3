package sheettest

import (
	"errors"
	"image"
	"image/color"
	"image/draw"
	"math"
	"strings"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	ximage "golang.org/x/image/draw"
)

// The mark of a sheet is a QR code of the text markText and the sheet's id.
const (
	markText = "USHURU SIMULATED "
	markSide = 118 // pixels, with its white margin
)

// drawMark draws the code.
func (c *canvas) drawMark(at image.Point, id string) error {
	hints := map[gozxing.EncodeHintType]any{
		gozxing.EncodeHintType_ERROR_CORRECTION: "M", gozxing.EncodeHintType_MARGIN: 2,
	}
	text := strings.ToUpper(markText + id)
	code, err := qrcode.NewQRCodeWriter().Encode(text, gozxing.BarcodeFormat_QR_CODE, markSide, markSide, hints)
	if err != nil {
		return err
	}
	c.fill(image.Rect(at.X, at.Y, at.X+markSide, at.Y+markSide), color.White)
	for y := range code.GetHeight() {
		for x := range code.GetWidth() {
			if code.Get(x, y) {
				c.Set(at.X+x, at.Y+y, color.Black)
			}
		}
	}
	return nil
}

// ErrNoMark says that a picture has no readable mark of a sheet.
var ErrNoMark = errors.New("no mark of a SIMULATED sheet can be read")

// ReadMark finds the sheet's id on a picture, and by how many degrees the
// picture is turned, clockwise, -180 to 180. It reads only the picture: what is
// blurred or small beyond reading is ErrNoMark.
func ReadMark(picture image.Image) (id string, turned float64, err error) {
	for _, times := range []int{1, 2} {
		for _, part := range marked(picture.Bounds()) {
			if id, turned, err = readMark(picture, part, times); err == nil {
				return id, turned, nil
			}
		}
	}
	return "", 0, ErrNoMark
}

// marked are the parts of a picture to look at: the corners, of which the upper
// right one has the mark when nothing was turned, and the whole.
func marked(in image.Rectangle) (parts []image.Rectangle) {
	w, h := in.Dx()*2/5, in.Dy()*2/5
	for _, at := range []image.Point{
		{in.Max.X - w, in.Min.Y}, in.Min, {in.Min.X, in.Max.Y - h}, {in.Max.X - w, in.Max.Y - h},
	} {
		parts = append(parts, image.Rectangle{Min: at, Max: at.Add(image.Pt(w, h))})
	}
	return append(parts, in)
}

// greyOf copies a part of a picture. JPEGs have the brightness at hand.
func greyOf(picture image.Image, part image.Rectangle) *image.Gray {
	grey := image.NewGray(image.Rect(0, 0, part.Dx(), part.Dy()))
	bright, ok := picture.(*image.YCbCr)
	if !ok {
		draw.Draw(grey, grey.Bounds(), picture, part.Min, draw.Src)
		return grey
	}
	for y := range part.Dy() {
		from := bright.YOffset(part.Min.X, part.Min.Y+y)
		copy(grey.Pix[y*grey.Stride:], bright.Y[from:from+part.Dx()])
	}
	return grey
}

func readMark(picture image.Image, part image.Rectangle, times int) (id string, turned float64, err error) {
	grey := greyOf(picture, part)
	if times > 1 {
		larger := image.NewGray(image.Rect(0, 0, part.Dx()*times, part.Dy()*times))
		ximage.BiLinear.Scale(larger, larger.Bounds(), grey, grey.Bounds(), draw.Src, nil)
		grey = larger
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(grey)
	if err != nil {
		return "", 0, err
	}
	hints := map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_TRY_HARDER: true}
	result, err := qrcode.NewQRCodeReader().Decode(bitmap, hints)
	if err != nil {
		return "", 0, err
	}
	id, ours := strings.CutPrefix(result.GetText(), markText)
	points := result.GetResultPoints()
	if !ours || len(points) < 3 {
		return "", 0, ErrNoMark
	}
	// The finder patterns are: bottom left, top left, top right.
	from, to := points[1], points[2]
	turned = math.Atan2(to.GetY()-from.GetY(), to.GetX()-from.GetX()) * 180 / math.Pi
	return strings.ToLower(id), turned, nil
}
