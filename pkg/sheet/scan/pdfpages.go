package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"strconv"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// pages loads a PDF: an image of every page that is not blank, with a longest side
// of MaxSide. Comments and stamps are drawn, form fields and scripts are not. Text
// in a font that is not embedded is drawn in PDFium's own Latin fonts, as far as
// they have its characters.
func (l *Loader) pages(ctx context.Context, data []byte) ([]Image, error) {
	if !complete(data) {
		return nil, damaged(errors.New("no %%EOF"))
	}
	if err := l.turn.Acquire(ctx, DefaultMemory); err != nil {
		return nil, interrupted(ctx)
	}
	defer l.turn.Release(DefaultMemory)
	cache, err := l.engine.use(ctx)
	if err != nil {
		return nil, err
	}
	ctx, stop := withProcessor(ctx, maxDocument)
	defer stop()
	pool, err := open(ctx, cache)
	if err == nil {
		defer func() { _ = pool.Close() }() // and the instance with it
		var instance pdfium.Pdfium
		if instance, err = pool.GetInstanceWithContext(ctx); err == nil {
			return readPDF(ctx, instance, data)
		}
	}
	return nil, pdfFailure(ctx, err)
}

// complete reports whether a PDF has its end marker (ISO 32000-1, 7.5.5; readers
// search the last 1024 bytes, and some writers add more after it). PDFium draws a
// truncated file as far as it can, and the missing part would look as if it had
// never existed.
func complete(data []byte) bool {
	data = bytes.TrimRight(data, "\x00\r\n\t ")
	return bytes.Contains(data[max(0, len(data)-4096):], []byte("%%EOF"))
}

func readPDF(ctx context.Context, instance pdfium.Pdfium, data []byte) ([]Image, error) {
	opened, err := instance.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return nil, pdfFailure(ctx, err)
	}
	count, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil {
		return nil, pdfFailure(ctx, err)
	}
	switch {
	case count.PageCount < 1:
		return nil, damaged(errors.New("no pages"))
	case count.PageCount > MaxPages:
		return nil, refused(TooManyPages,
			message.Values{"pages": strconv.Itoa(count.PageCount), "max": strconv.Itoa(MaxPages)}, nil)
	}
	var images []Image
	var empty error
	for number := range count.PageCount {
		page, err := readPage(ctx, instance, opened.Document, number)
		if failure, ok := errors.AsType[*fetch.Error](err); ok && failure.Code == Blank {
			empty = err
			continue
		}
		if err != nil {
			return nil, err
		}
		images = append(images, *page)
	}
	if len(images) == 0 {
		return nil, empty
	}
	return images, nil
}

// readPage draws one page, counted from 0, on white.
func readPage(ctx context.Context, instance pdfium.Pdfium, document references.FPDF_DOCUMENT, number int) (*Image, error) {
	size, err := instance.FPDF_GetPageSizeByIndexF(&requests.FPDF_GetPageSizeByIndexF{Document: document, Index: number})
	if err != nil {
		return nil, pdfFailure(ctx, err)
	}
	width, height, err := pagePixels(float64(size.Size.Width), float64(size.Size.Height))
	if err != nil {
		return nil, err
	}
	bitmap, err := instance.FPDFBitmap_Create(&requests.FPDFBitmap_Create{Width: width, Height: height})
	if err != nil {
		return nil, pdfFailure(ctx, err)
	}
	if _, err = instance.FPDFBitmap_FillRect(&requests.FPDFBitmap_FillRect{
		Bitmap: bitmap.Bitmap, Width: width, Height: height, Color: 0xffffffff,
	}); err != nil {
		return nil, pdfFailure(ctx, err)
	}
	if _, err = instance.FPDF_RenderPageBitmap(&requests.FPDF_RenderPageBitmap{
		Bitmap: bitmap.Bitmap, SizeX: width, SizeY: height,
		Page:  requests.Page{ByIndex: &requests.PageByIndex{Document: document, Index: number}},
		Flags: enums.FPDF_RENDER_FLAG_ANNOT | enums.FPDF_RENDER_FLAG_REVERSE_BYTE_ORDER,
	}); err != nil {
		return nil, pdfFailure(ctx, err)
	}
	drawn, err := instance.FPDFBitmap_GetBuffer(&requests.FPDFBitmap_GetBuffer{Bitmap: bitmap.Bitmap})
	if err != nil {
		return nil, pdfFailure(ctx, err)
	}
	if len(drawn.Buffer) != 4*width*height {
		return nil, damaged(fmt.Errorf("a bitmap of %d bytes", len(drawn.Buffer))) // PDFium was out of memory
	}
	for i := 3; i < len(drawn.Buffer); i += 4 {
		drawn.Buffer[i] = 0xff // the fourth byte means nothing in a bitmap without transparency
	}
	page := &image.RGBA{Pix: drawn.Buffer, Stride: 4 * width, Rect: image.Rect(0, 0, width, height)}
	picture, err := encodeJPEG(ctx, page, 1, number+1)
	if err != nil {
		return nil, err
	}
	_, err = instance.FPDFBitmap_Destroy(&requests.FPDFBitmap_Destroy{Bitmap: bitmap.Bitmap})
	return picture, err
}

// pagePixels returns the size in pixels of a page whose sides are given in points.
func pagePixels(width, height float64) (int, int, error) {
	long, short := math.Max(width, height), math.Min(width, height)
	if !(short > 0) || math.IsInf(long, 0) {
		return 0, 0, damaged(fmt.Errorf("a page of %g by %g points", width, height))
	}
	if short/long*MaxSide < MinSide {
		return 0, 0, tooSmall(int(math.Min(width, math.MaxInt32)), int(math.Min(height, math.MaxInt32)))
	}
	scale := MaxSide / long
	return int(math.Round(width * scale)), int(math.Round(height * scale)), nil
}

// pdfFailure returns the error for the caller of an error of PDFium. Out of memory
// counts as a damaged file, like any other fault of the WebAssembly code.
func pdfFailure(ctx context.Context, err error) error {
	if stopped := interrupted(ctx); stopped != nil {
		return stopped
	}
	if errors.Is(err, pdfiumerrors.ErrPassword) || errors.Is(err, pdfiumerrors.ErrSecurity) {
		return refused(Encrypted, nil, err)
	}
	return damaged(err)
}
