package listing

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/html"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/testenv"
)

func TestReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Read(ctx, FromFile([]byte(filled(factRow, numbered("<p>Price: $#N</p>"), 1<<20)), dealerURL))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

func TestAPageThatCostsTooMuchIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	page := FromFile([]byte(factRow), dealerURL)
	large := FromFile(bytes.Repeat([]byte("x"), MaxBytes+1), dealerURL)
	for name, c := range map[string]struct {
		page      *fetch.Page
		read      func(*dom.Budget) error
		says      string
		retryable bool
	}{
		"steps": {page, func(b *dom.Budget) error { b.Spend(maxSteps + 1); return nil }, "too tangled", false},
		"size":  {large, func(*dom.Budget) error { return nil }, "larger than 4 MB", false},
		"time": {page, func(b *dom.Budget) error {
			for {
				testenv.Pass(time.Second) // Check reads that clock
				b.Check()
			}
		}, "took too long", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			failed := wantOutcome(t, limit(t.Context(), c.page, c.read), PageUnreadable)
			if !strings.Contains(failed.Message, c.says) || failed.Retryable != c.retryable {
				t.Errorf("%s: got %q, temporary %v; want %q, %v", name, failed.Message, failed.Retryable, c.says, c.retryable)
			}
		})
	}
}

// The memory that is set aside for a page is what its tree takes, or more.
func TestMemoryCoversTheTreeOfAPage(t *testing.T) {
	for _, part := range []string{"<img a b c=1>", "<p>", "<b>x</b>", "<a href=/1 class='a b'>TOYOTA VITZ</a> ", "some words of text "} {
		page := FromFile([]byte(strings.Repeat(part, 1<<20/len(part))), "")
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		root, err := html.Parse(bytes.NewReader(page.Body))
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		took := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if need := Memory(page); need < took || need > 20<<20 && need > 8*took {
			t.Errorf("%q: got %d KB for a tree of %d KB", part, need>>10, took>>10)
		}
		runtime.KeepAlive(root)
	}
}
