package dom

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"golang.org/x/net/html"
)

// ErrTooManySteps is the error for a page that takes more steps to read than it may.
var ErrTooManySteps = errors.New("the page takes too many steps to read")

// Budget is what the reading of one page may still cost. A nil Budget has no limits.
type Budget struct {
	left    int
	check   int          // of left at which the time is looked at next
	stopped func() error // why the reading must end, nil while it need not
}

// checkEvery is after how many steps a Budget looks at the time: a step takes some
// microseconds at most.
const checkEvery = 256

// exceeded is what Spend panics with, and Limit recovers.
type exceeded struct{ cause error }

// Limit calls read with a budget of steps, and ends it when that is spent, with
// ErrTooManySteps, or when ctx is done, with the error of ctx.
func Limit(ctx context.Context, steps int, read func(*Budget) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			over, ok := p.(exceeded)
			if !ok {
				panic(p)
			}
			err = over.cause
		}
	}()
	return read(&Budget{left: steps, check: steps, stopped: ctx.Err})
}

// Spend uses some steps up. It does not return when the budget is spent: Limit does.
func (b *Budget) Spend(steps int) {
	if b == nil {
		return
	}
	if b.left -= steps; b.left < b.check {
		b.look()
	}
}

// look ends the reading when the budget is spent or its time is over.
func (b *Budget) look() {
	if b.left < 0 {
		panic(exceeded{ErrTooManySteps})
	}
	b.check = max(b.left-checkEvery, 0)
	b.Check()
}

// Check ends the reading when its time is over.
func (b *Budget) Check() {
	if b == nil {
		return
	}
	if err := b.stopped(); err != nil {
		panic(exceeded{err})
	}
}

// reader reads the bytes of a page within a budget.
type reader struct {
	budget *Budget
	from   io.Reader
}

// Reader returns a reader that ends with an error when the time of the budget is over.
func (b *Budget) Reader(from io.Reader) io.Reader { return reader{b, from} }

func (r reader) Read(p []byte) (int, error) {
	if r.budget != nil && r.budget.stopped() != nil {
		return 0, r.budget.stopped()
	}
	return r.from.Read(p)
}

// errTooManyTags is the error for a page whose tree would be too large.
var errTooManyTags = errors.New("too many tags, or too many left open")

// maxNodes bounds the tree of a page; a real listing has some 20,000 nodes.
const maxNodes = 2_000_000

// maxDepth is the maximum depth that html.Parse allows.
const maxDepth = 512

// The beginning of a tag, and of its name, that is examined, in bytes.
const (
	maxTag  = 120
	maxName = 8
)

// isFormatting reports the name of an element that an HTML parser reopens in every block
// while it is not closed: with five hundred of them open, one letter creates five hundred
// nodes (WHATWG HTML, 13.2.4.3).
func isFormatting(name []byte) bool {
	switch string(name) {
	case "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// maxDepths bounds the sum of the depths of a page's tags. A parser searches the open
// elements at each tag, so that 4 MB of nested boxes take seconds; the largest real page
// seen has a sum of some 600,000.
const maxDepths = 60_000_000

// CheckSize rejects a page whose tree would be too large, before the tree is built.
// Counting the tags is sufficient for nearly every page; only a page with many
// different formatting elements is tokenized.
func CheckSize(body []byte) error {
	tags := bytes.Count(body, []byte("<"))
	if 2*tags > maxNodes || tags*maxDepth > maxDepths && sumOfDepths(body) > maxDepths {
		return errTooManyTags
	}
	// At most three equal formatting elements are reopened.
	if tags*(2+maxDepth) <= maxNodes || tags*(2+min(3*countFormatting(body), maxDepth)) <= maxNodes {
		return nil
	}
	return countNodes(body)
}

// sumOfDepths returns about the sum of the depths of a page's tags. Elements that never contain
// another, or that the next of their kind ends, are not counted as open.
func sumOfDepths(body []byte) (sum int) {
	depth := 0
	for tag := range tagsOf(body) {
		name, ends := bytes.CutPrefix(tag, []byte("/"))
		name = nameOf(name, new([maxName]byte))
		switch {
		case len(name) == 0 || isUnnested(name):
		case ends:
			depth = max(depth-1, 0)
		case depth < maxDepth:
			depth++
		}
		sum += depth
	}
	return sum
}

// countFormatting counts the different formatting tags of a page, at most maxDepth. One whose
// end is uncertain or far away counts each time.
func countFormatting(body []byte) (count int) {
	seen := map[string]bool{}
	for tag := range tagsOf(body) {
		if count == maxDepth {
			break
		}
		if len(tag) > 0 && strings.IndexByte("bcefistu", tag[0]|0x20) >= 0 && // most tags begin with another letter
			isFormatting(nameOf(tag, new([maxName]byte))) && isNew(tag, seen) {
			count++
		}
	}
	return count
}

// tagsOf walks the tags of a page: the beginning of each, behind its "<".
func tagsOf(body []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := bytes.IndexByte(body, '<'); at >= 0; at = bytes.IndexByte(body, '<') {
			body = body[at+1:]
			if !yield(body[:min(len(body), maxTag)]) {
				return
			}
		}
	}
}

// nameOf returns the letters at the front of a tag in lower case, as far as they fit in buffer.
func nameOf(tag []byte, buffer *[maxName]byte) []byte {
	name := buffer[:0]
	for len(name) < min(len(tag), maxName) && isLetter(tag[len(name)]|0x20) {
		name = append(name, tag[len(name)]|0x20)
	}
	return name
}

// isNew reports a tag that was not seen before, and adds it to those that were seen.
func isNew(tag []byte, seen map[string]bool) bool {
	end := bytes.IndexByte(tag, '>')
	if end < 0 || bytes.Count(tag[:end], []byte(`"`))%2 != 0 || bytes.IndexByte(tag[:end], '\'') >= 0 {
		return true
	}
	before := seen[string(tag[:end])]
	seen[string(tag[:end])] = true
	return !before
}

// isUnnested reports the name, in lower case, of an element that cannot contain another, or that the
// next of its kind ends.
func isUnnested(name []byte) bool {
	switch string(name) {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
		"p", "li", "td", "th", "tr", "dd", "dt", "option", "tbody", "thead", "path", "use", "circle", "rect":
		return true
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

// countNodes bounds the nodes of the tree by the tags and texts and the
// formatting elements open at each.
func countNodes(body []byte) error {
	tokens := html.NewTokenizer(bytes.NewReader(body))
	nodes, open := 0, 0
	for {
		kind := tokens.Next()
		switch kind {
		case html.ErrorToken:
			return nil // the end; html.Parse reports anything else
		case html.StartTagToken, html.EndTagToken:
			name, _ := tokens.TagName()
			if isFormatting(name) && kind == html.StartTagToken {
				open++
			} else if isFormatting(name) && open > 0 {
				open--
			}
		}
		if nodes += 1 + min(open, maxDepth); nodes > maxNodes {
			return errTooManyTags
		}
	}
}
