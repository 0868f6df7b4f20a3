package listing

import (
	"bytes"
	"context"
	"errors"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// What the reading of one page may cost. The largest real page seen has 1.9 MB and some
// 40,000 elements, and takes a fifth of a second.
const (
	MaxBytes = 4 << 20
	maxSteps = 20_000_000
	maxTime  = 15 * time.Second
)

// limit reads a page that a site has answered, within the limits of one page. A page that
// is over its time may be so because the machine is busy: that error is temporary.
func limit(ctx context.Context, p *fetch.Page, read func(*dom.Budget) error) error {
	if err := checkStatus(p); err != nil {
		return err
	}
	if len(p.Body) > MaxBytes {
		return page.Unreadable(".large", nil)
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	err := dom.Limit(limited, maxSteps, read)
	switch {
	case errors.Is(err, dom.ErrTooManySteps):
		return page.Unreadable(".tangled", err)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		slow := page.Unreadable(".slow", err)
		slow.Retryable = true
		return slow
	}
	return err
}

// Memory returns about how many bytes the tree of a page takes while it is read: an
// element and the text behind it for each tag, and an attribute for each space in a tag.
func Memory(p *fetch.Page) int64 {
	const ofTag, ofSpace, ofByte = 160, 64, 3
	tags, spaces := bytes.Count(p.Body, []byte("<")), bytes.Count(p.Body, []byte(" "))
	return int64(ofTag*tags + ofSpace*spaces + ofByte*len(p.Body))
}
