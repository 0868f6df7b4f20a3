package listing

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"ushuru/pkg/fetch"
)

// document is a parsed page with indexes, all made in one walk.
type document struct {
	page      *fetch.Page
	url       *url.URL // of the page; never nil
	base      *url.URL // what links are relative to
	canonical string   // rel=canonical or og:url, as written
	title     string
	meta      map[string]string // name or property in lower case → first content
	ids       map[string]*html.Node
	tags      map[atom.Atom][]*html.Node // only those of indexed
	marked    markedUp                   // what carries schema.org data in attributes
	pairs     []pair                     // labels and values, as the site means them
}

// indexed are the elements that readers look for by tag.
var indexed = map[atom.Atom]bool{
	atom.Body: true, atom.Script: true, atom.H1: true, atom.P: true, atom.Span: true, atom.Div: true,
	atom.Table: true, atom.Tr: true, atom.Dl: true, atom.Li: true, atom.Input: true, atom.Option: true, atom.Img: true,
	atom.A: true, atom.Ol: true, atom.Ul: true, atom.H3: true,
}

// parse decodes the page's character set (byte order mark, header, meta) and
// builds the tree.
func parse(page *fetch.Page) (*document, error) {
	if err := checkSize(page.Body); err != nil {
		return nil, err
	}
	var body io.Reader = bytes.NewReader(page.Body)
	encoding, name, _ := charset.DetermineEncoding(page.Body, page.Header.Get("Content-Type"))
	if name != "utf-8" {
		body = encoding.NewDecoder().Reader(body)
	}
	root, err := html.Parse(body)
	if err != nil {
		return nil, unreadable(err)
	}
	address, err := url.Parse(page.FinalURL)
	if err != nil {
		address = &url.URL{}
	}
	doc := &document{
		page: page, url: address, base: address,
		meta: map[string]string{}, ids: map[string]*html.Node{}, tags: map[atom.Atom][]*html.Node{},
	}
	for n := range elements(root) {
		doc.index(n)
	}
	if doc.canonical == "" {
		doc.canonical = doc.meta["og:url"]
	}
	return doc, nil
}

func (d *document) index(n *html.Node) {
	if indexed[n.DataAtom] {
		d.tags[n.DataAtom] = append(d.tags[n.DataAtom], n)
	}
	for _, a := range n.Attr {
		if a.Key == "id" && d.ids[a.Val] == nil {
			d.ids[a.Val] = n
		}
		d.marked.mark(n, a.Key)
	}
	if n.Namespace == "" {
		d.indexHead(n)
	}
}

// indexHead keeps what the head of a page says of it; the first of each counts.
func (d *document) indexHead(n *html.Node) {
	switch n.DataAtom {
	case atom.Title:
		if d.title == "" {
			d.title = text(n)
		}
	case atom.Base:
		if base, err := d.url.Parse(attr(n, "href")); err == nil && attr(n, "href") != "" && d.base == d.url {
			d.base = base
		}
	case atom.Link:
		if d.canonical == "" && strings.EqualFold(attr(n, "rel"), "canonical") {
			d.canonical = strings.TrimSpace(attr(n, "href"))
		}
	case atom.Meta:
		name := strings.ToLower(attr(n, "property") + attr(n, "name"))
		if _, seen := d.meta[name]; !seen && name != "" {
			d.meta[name] = clean(attr(n, "content"))
		}
	}
}

// find returns the first element with the tag and class.
func (d *document) find(tag atom.Atom, class string) *html.Node {
	for _, n := range d.tags[tag] {
		if hasClass(n, class) {
			return n
		}
	}
	return nil
}

// value returns the value attribute of the input with the id.
func (d *document) value(id string) string { return clean(attr(d.ids[id], "value")) }

// link resolves a link of the page; an empty address when it is none.
func (d *document) link(raw string) *url.URL {
	if u, err := d.base.Parse(strings.TrimSpace(raw)); err == nil {
		return u
	}
	return &url.URL{}
}

// absolute resolves a link of the page; "" when it is not http or https.
func (d *document) absolute(link string) string {
	link = strings.TrimSpace(link)
	u, err := d.base.Parse(link)
	if link == "" || err != nil {
		return ""
	}
	if u.Scheme == "" && u.Host != "" { // protocol-relative on a page without address
		u.Scheme = "https"
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

func unreadable(cause error) error {
	return &fetch.Error{Code: PageUnreadable, Message: "The page is built in a way that cannot be read.", Cause: cause}
}

var errTooManyTags = errors.New("too many tags, or too many left open")
