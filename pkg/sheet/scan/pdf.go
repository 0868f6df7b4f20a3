package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
)

// pdfMemory is the memory limit of PDFium for one document, in pages of 64 KB:
// 192 MB, enough for a colour scan of A4 at 600 dpi.
const pdfMemory = 192 << 20 >> 16

// engine is PDFium as WebAssembly: a C++ library that reads a stranger's file in a
// sandbox without files, network or scripts, with bounded memory. It is compiled
// to machine code once, which takes seconds (up to a minute on a busy machine) and
// meanwhile about 300 MB; with a cache on disk, once per machine and version. Each
// document has its own instance, so that nothing of it remains for the next.
type engine struct {
	cacheDir string

	mu       sync.Mutex
	compiled wazero.CompilationCache
	starting chan struct{} // nil before the first PDF and after a failure
	failure  error
}

// ready returns a channel that is closed when the engine can be used or has failed
// to start. The first call starts it. The start continues when its caller gives
// up, so that the next caller finds the engine ready.
func (e *engine) ready() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.starting == nil {
		done := make(chan struct{})
		e.starting = done
		go e.start(done)
	}
	return e.starting
}

func (e *engine) start(done chan struct{}) {
	defer close(done)
	cache := openCache(e.cacheDir)
	pool, err := open(context.Background(), cache)
	if err == nil {
		err = pool.Close()
	}
	// The memory of the compiler is returned at once: it is not needed again.
	debug.FreeOSMemory()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.failure, e.starting = errors.Join(err, cache.Close(context.Background())), nil
		return
	}
	e.compiled, e.failure = cache, nil
}

// openCache returns a cache in a directory, to which only this user may write
// because its content is executed. Without a usable directory it is in memory.
func openCache(dir string) wazero.CompilationCache {
	if dir != "" && os.MkdirAll(dir, 0o700) == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(dir); err == nil {
			return cache
		}
	}
	return wazero.NewCompilationCache()
}

// open returns a pool whose instances stop when ctx ends, even during a call.
func open(ctx context.Context, cache wazero.CompilationCache) (pdfium.Pool, error) {
	return webassembly.Init(webassembly.Config{
		Context:  ctx,
		MaxTotal: 1,
		FSConfig: wazero.NewFSConfig(), // empty: no file can be opened; nil would be all of them
		RuntimeConfig: wazero.NewRuntimeConfig().
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling). // PDFium's setjmp
			WithCompilationCache(cache).
			WithCloseOnContextDone(true).
			WithMemoryLimitPages(pdfMemory),
		Stdout: io.Discard,
		Stderr: io.Discard,
	})
}

// use waits for the engine, and returns the cache for open.
func (e *engine) use(ctx context.Context) (wazero.CompilationCache, error) {
	select {
	case <-ctx.Done():
		return nil, interrupted(ctx)
	case <-e.ready(): //nolint:contextcheck // a start goes on for the next
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.compiled == nil {
		return nil, &fetch.Error{Notice: message.New("error/"+Unavailable, nil), Cause: e.failure, Retryable: true}
	}
	return e.compiled, nil
}

// close closes the engine. It waits for a running start.
func (e *engine) close() error {
	e.mu.Lock()
	starting := e.starting
	e.mu.Unlock()
	if starting == nil {
		return nil
	}
	<-starting
	e.mu.Lock()
	defer e.mu.Unlock()
	cache := e.compiled
	e.compiled, e.starting = nil, nil
	if cache == nil {
		return nil
	}
	return cache.Close(context.Background())
}

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
