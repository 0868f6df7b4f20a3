// Package page parses the HTML of a listing page and claims what any page says
// of its car, whichever site it is of: labels and their values, title and
// metadata, script data, pictures and the link of an inspection sheet.
package page

import (
	"bytes"
	"iter"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/pairs"
)

// Document is a parsed page with its indexes, which one walk fills.
type Document struct {
	Page      *fetch.Page
	URL       *url.URL // of the page; never nil
	Base      *url.URL // what links are relative to
	Canonical string   // rel=canonical or og:url, as written
	Title     string
	Meta      map[string]string // name or property in lower case → first content
	IDs       map[string]*html.Node
	Tags      map[atom.Atom][]*html.Node // only those of isIndexed
	Scopes    []*html.Node               // elements that begin an item of microdata, in their order
	Typed     []*html.Node               // the same of RDFa: with typeof or resource
	Pairs     []pairs.Pair               // labels and values, corrected by the site's adapter
	Stock     bool                       // a table has a car in each row
	Cards     []*html.Node               // boxes of one shape, each with a price and a car

	budget  *dom.Budget         // of the reading
	foreign map[*html.Node]bool // elements about other cars
	others  map[*html.Node]bool // these, and the elements around them
	// discounted reports that a price holds after a discount, whatever others are beside it.
	discounted bool
	headed     map[*html.Node]bool // elements with the heading of the page's own car, or most of its facts
	loose      []pairs.Pair        // pairs outside tables and lists, after ClaimLabels
	words      string              // that the page shows, after Words
}

// isIndexed reports an element that Tags holds.
func isIndexed(tag atom.Atom) bool {
	switch tag {
	case atom.Body, atom.Script, atom.H1, atom.P, atom.Span, atom.Div, atom.Table, atom.Input, atom.Option, atom.Img,
		atom.A, atom.Ol, atom.Ul, atom.H3, atom.Style, atom.H2, atom.Strong, atom.B:
		return true
	}
	return false
}

// Parse decodes the page's character set (byte order mark, header, meta) and
// builds the tree, within a budget.
func Parse(budget *dom.Budget, page *fetch.Page) (*Document, error) {
	if err := dom.CheckSize(page.Body); err != nil {
		return nil, Unreadable("", err)
	}
	body := budget.Reader(bytes.NewReader(page.Body))
	encoding, name, _ := charset.DetermineEncoding(page.Body, page.Header.Get("Content-Type"))
	if name != "utf-8" {
		body = encoding.NewDecoder().Reader(body)
	}
	root, err := html.Parse(body)
	if budget.Check(); err != nil {
		return nil, Unreadable("", err)
	}
	address, err := url.Parse(page.FinalURL)
	if err != nil {
		address = &url.URL{}
	}
	doc := &Document{
		Page: page, URL: address, Base: address, budget: budget,
		Meta: map[string]string{}, IDs: map[string]*html.Node{}, Tags: map[atom.Atom][]*html.Node{},
	}
	for n := range doc.elements(root) {
		doc.index(n)
	}
	if doc.Canonical == "" {
		doc.Canonical = doc.Meta["og:url"]
	}
	doc.analyse()
	return doc, nil
}

// analyse finds the labels of the page and its parts about other cars.
func (d *Document) analyse() {
	dom.MarkVisibility(Body(d), d.Tags[atom.Style])
	d.Pairs, d.Stock = pairs.In(d.budget, Body(d))
	d.findForeign(d.Pairs)
}

// elements walks the elements of a subtree; each is a step of the reading.
func (d *Document) elements(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := range dom.Elements(root) {
			if d.budget.Spend(1); !yield(n) {
				return
			}
		}
	}
}

// maxFirstHeadings bounds the first headings of one page that are read.
const maxFirstHeadings = 20

func (d *Document) index(n *html.Node) {
	if isIndexed(n.DataAtom) && (n.DataAtom != atom.H1 || len(d.Tags[atom.H1]) < maxFirstHeadings) {
		d.Tags[n.DataAtom] = append(d.Tags[n.DataAtom], n)
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			if d.IDs[a.Val] == nil {
				d.IDs[a.Val] = n
			}
		case "itemscope":
			d.Scopes = append(d.Scopes, n)
		case "typeof", "resource":
			if len(d.Typed) == 0 || d.Typed[len(d.Typed)-1] != n {
				d.Typed = append(d.Typed, n)
			}
		}
	}
	if n.Namespace == "" {
		d.indexHead(n)
	}
}

// indexHead records the title, base, canonical link and metadata of a page; the
// first of each counts.
func (d *Document) indexHead(n *html.Node) {
	switch n.DataAtom {
	case atom.Title:
		if d.Title == "" {
			d.Title = dom.Text(n)
		}
	case atom.Base:
		if base, err := d.URL.Parse(dom.Attr(n, "href")); err == nil && dom.Attr(n, "href") != "" && d.Base == d.URL {
			d.Base = base
		}
	case atom.Link:
		if d.Canonical == "" && strings.EqualFold(dom.Attr(n, "rel"), "canonical") {
			d.Canonical = strings.TrimSpace(dom.Attr(n, "href"))
		}
	case atom.Meta:
		name := strings.ToLower(dom.Attr(n, "property") + dom.Attr(n, "name"))
		if _, seen := d.Meta[name]; !seen && name != "" {
			d.Meta[name] = claim.Clean(dom.Attr(n, "content"))
		}
	}
}

// Find returns the first element with the tag and class that is not about another
// car.
func (d *Document) Find(tag atom.Atom, class string) *html.Node {
	return d.find(tag, class, func(n *html.Node) bool { return !d.IsForeign(n) })
}

// FindAnchored returns the first element with the tag and class that stands with the
// page's own car.
func (d *Document) FindAnchored(tag atom.Atom, class string) *html.Node {
	return d.find(tag, class, d.IsAnchored)
}

func (d *Document) find(tag atom.Atom, class string, isOwn func(*html.Node) bool) *html.Node {
	for _, n := range d.Tags[tag] {
		if dom.HasClass(n, class) && isOwn(n) {
			return n
		}
	}
	return nil
}

// InputValue returns the value attribute of the input with the id.
func (d *Document) InputValue(id string) string { return claim.Clean(dom.Attr(d.IDs[id], "value")) }

// Resolve returns the absolute URL of a link of the page; an empty URL for an
// invalid link.
func (d *Document) Resolve(raw string) *url.URL {
	raw = strings.TrimSpace(raw)
	if isPlainPath(raw) { // as most links of a page
		return &url.URL{Scheme: d.Base.Scheme, Host: d.Base.Host, User: d.Base.User, Path: raw}
	}
	if u, err := d.Base.Parse(raw); err == nil {
		return u
	}
	return &url.URL{}
}

// isPlainPath reports an absolute path in which nothing is escaped or relative.
func isPlainPath(s string) bool {
	if !strings.HasPrefix(s, "/") || strings.Contains(s, "//") || strings.Contains(s, "/.") {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		isLetter := r|0x20 >= 'a' && r|0x20 <= 'z'
		return !isLetter && (r < '-' || r > '9') && r != '_' && r != '='
	}) < 0
}

// Absolute resolves a link of the page; "" when it is not http or https.
func (d *Document) Absolute(link string) string {
	if strings.TrimSpace(link) == "" {
		return ""
	}
	return absolute(d.Resolve(link))
}

func absolute(u *url.URL) string {
	if u.Scheme == "" && u.Host != "" { // protocol-relative on a page without address
		u.Scheme = "https"
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// PageUnreadable is the code of the error for a page that costs too much to read.
const PageUnreadable = "page_unreadable"

// Unreadable returns the error for a page that costs too much to read. why names the
// text of the reason, "" for markup that cannot be parsed.
func Unreadable(why string, cause error) *fetch.Error {
	return fetch.Fail("error/"+PageUnreadable+why, cause)
}

// Within returns a part of the page as a document of its own with the given URL.
// Metadata of the whole page do not apply to it.
func (d *Document) Within(root *html.Node, address *url.URL) *Document {
	part := &Document{
		Page: d.Page, URL: address, Base: d.Base, budget: d.budget,
		Meta: map[string]string{}, IDs: map[string]*html.Node{}, Tags: map[atom.Atom][]*html.Node{},
	}
	part.Pairs, _ = pairs.In(d.budget, root)
	for n := range d.elements(root) {
		part.index(n)
	}
	return part
}

// maxWords bounds the visible text of a page that is searched, in bytes.
const maxWords = 1 << 20

// Words returns the text that the page shows, with its title, in one line and without its
// parts about other cars; menus and the foot of the page, which say what holds for all its
// cars, count. It is put together at the first call.
func (d *Document) Words() string {
	if d.words == "" {
		var text strings.Builder
		text.WriteString(d.Title + " ")
		root := Body(d)
		for n := root; n != nil && text.Len() < maxWords; {
			inside := true
			switch n.Type {
			case html.TextNode:
				text.WriteString(n.Data)
			case html.ElementNode:
				inside = !dom.IsSkipped(n) && !d.foreign[n] && !dom.IsNamed(n, asideWords)
				if !dom.IsInline(n) {
					text.WriteByte(' ')
				}
			}
			d.budget.Spend(1)
			n = dom.After(n, root, inside)
		}
		var line strings.Builder
		line.Grow(text.Len())
		for word := range strings.FieldsSeq(text.String()) {
			line.WriteString(word + " ")
		}
		d.words = strings.TrimSuffix(line.String(), " ")
	}
	return d.words
}
