package scan

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
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
