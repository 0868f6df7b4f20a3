package graph

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// markup reads schema.org data that stands in attributes. Microdata and RDFa
// differ in the attributes only; both are read without recursion, because
// items can refer to each other in a chain as long as the page.
type markup struct {
	g      *Graph
	doc    *page.Document
	syntax string
	scopes []*html.Node // elements that begin an item, in document order
	made   map[*html.Node]*Node
	queue  []*html.Node // items whose properties are still to be read

	property string // the attribute that names properties

	begins func(el *html.Node) bool                       // an item begins here
	names  func(item *Node, el *html.Node) []string       // the properties that an element gives an item
	open   func(el *html.Node, n *Node)                   // types and id of a new item
	value  func(item *Node, el *html.Node, v Value) Value // what the syntax adds to the common value
	refs   func(el *html.Node) string                     // ids of elements that belong to the item too
}

// read makes the tree. An item that is a property of nothing hangs on the page.
func (m *markup) read() {
	if len(m.scopes) == 0 {
		return
	}
	m.made = map[*html.Node]*Node{}
	before := len(m.g.nodes)
	var roots []*Node
	for _, el := range m.scopes {
		if !m.hasProperty(el) && m.g.left > 0 {
			roots = append(roots, m.item(el))
		}
	}
	m.drain()
	page := &Node{Syntax: m.syntax, Props: map[string][]Value{}}
	for _, el := range m.scopes {
		if m.made[el] != nil || !m.begins(el) || m.g.left <= 0 {
			continue
		}
		n := m.item(el)
		for _, name := range m.names(n, el) {
			page.add(name, Value{Node: n})
		}
		m.drain()
	}
	if m.g.left <= 0 { // half a tree could mean something else
		m.g.nodes = m.g.nodes[:before]
		return
	}
	m.g.Roots = append(append(m.g.Roots, roots...), page)
}

func (m *markup) hasProperty(el *html.Node) bool { return dom.Attr(el, m.property) != "" }

// item returns the node of an element, and has its properties read later.
func (m *markup) item(el *html.Node) *Node {
	if n := m.made[el]; n != nil {
		return n
	}
	m.g.spend(propertySteps)
	n := m.g.newNode(m.syntax)
	n.From = el
	m.open(el, n)
	m.made[el] = n
	m.queue = append(m.queue, el)
	return n
}

func (m *markup) drain() {
	for len(m.queue) > 0 && m.g.left > 0 {
		el := m.queue[0]
		m.queue = m.queue[1:]
		item := m.made[el]
		for child := el.FirstChild; child != nil; child = child.NextSibling {
			m.walk(item, child)
		}
		m.follow(item, el)
	}
}

// follow reads the elements that an item refers to: each once, unknown ones
// not. One that begins an item of its own without being a property gives its
// properties to both.
func (m *markup) follow(item *Node, el *html.Node) {
	seen := map[*html.Node]bool{el: true}
	for id := range strings.FieldsSeq(m.refs(el)) {
		other := m.doc.IDs[id]
		if !m.g.spend(1) {
			return
		}
		if other == nil || seen[other] {
			continue
		}
		seen[other] = true
		if m.hasProperty(other) || !m.begins(other) {
			m.walk(item, other)
			continue
		}
		for child := other.FirstChild; child != nil; child = child.NextSibling {
			m.walk(item, child)
		}
	}
}

// walk adds the properties of a subtree to an item. Items inside it keep their
// own.
func (m *markup) walk(item *Node, root *html.Node) {
	for el := root; el != nil; {
		if !m.g.spend(1 + len(el.Attr)) {
			return
		}
		inside := true
		if el.Type == html.ElementNode {
			inside = el.DataAtom != atom.Template && m.visit(item, el)
		}
		el = dom.After(el, root, inside)
	}
}

// visit adds what one element says; it reports whether the item goes on inside.
func (m *markup) visit(item *Node, el *html.Node) bool {
	begins := m.begins(el)
	names := m.names(item, el)
	if begins && !m.hasProperty(el) {
		return false
	}
	if len(names) == 0 {
		return !begins
	}
	m.g.spend(propertySteps)
	var v Value
	if begins {
		v.Node = m.item(el)
	} else {
		v = m.value(item, el, elementValue(el))
	}
	for _, name := range names {
		if !priced(name) || !dom.AnyAncestor(el, dom.IsStruck) {
			item.add(name, v)
		}
	}
	return !begins
}

// priced are the properties of which an old value can stand struck out.
func priced(name string) bool { return strings.Contains(strings.ToLower(name), "price") }

// elementValue returns what an element says as a property (WHATWG HTML, 5.2.4).
// Beyond that, a content attribute counts on any element, as search engines
// read it; a picture may be named as lazy loaders and schema.org's own example
// do; and a link keeps its text beside its address.
func elementValue(el *html.Node) Value {
	if content := strings.TrimSpace(dom.Attr(el, "content")); content != "" {
		return Value{Text: cut(content)}
	}
	switch el.DataAtom {
	case atom.Meta:
		return Value{}
	case atom.Img, atom.Audio, atom.Video, atom.Source, atom.Embed, atom.Iframe, atom.Track:
		return Value{Text: cut(source(el))}
	case atom.Link:
		return Value{Text: cut(strings.TrimSpace(dom.Attr(el, "href")))}
	case atom.A, atom.Area:
		link := cut(strings.TrimSpace(dom.Attr(el, "href")))
		return Value{Text: cmp.Or(dom.Text(el), link), link: link}
	case atom.Object:
		return Value{Text: cut(dom.Attr(el, "data"))}
	case atom.Data, atom.Meter:
		return Value{Text: cut(cmp.Or(dom.Attr(el, "value"), dom.Text(el)))}
	case atom.Time:
		return Value{Text: cut(cmp.Or(dom.Attr(el, "datetime"), dom.Text(el)))}
	}
	return Value{Text: dom.Text(el)}
}

// source returns the address of a picture, of whichever attribute holds one.
func source(el *html.Node) string {
	for _, key := range []string{"src", "data-src", "data-original", "href"} {
		if link := strings.TrimSpace(dom.Attr(el, key)); link != "" && !strings.HasPrefix(link, "data:") {
			return link
		}
	}
	return ""
}

func cut(s string) string { return s[:min(len(s), maxText)] }

// readMicrodata reads itemscope, itemtype, itemprop, itemid and itemref.
func readMicrodata(doc *page.Document, g *Graph) {
	m := markup{
		g: g, doc: doc, syntax: SourceMicrodata, scopes: doc.Scopes, property: "itemprop",
		begins: func(el *html.Node) bool { return dom.HasAttr(el, "itemscope") },
		names: func(_ *Node, el *html.Node) (names []string) {
			for written := range strings.FieldsSeq(dom.Head(dom.Attr(el, "itemprop"))) {
				if name := Name(written); name != "" {
					names = append(names, name)
				}
			}
			return names
		},
		open: func(el *html.Node, n *Node) {
			n.ID = cut(strings.TrimSpace(dom.Attr(el, "itemid")))
			for name := range strings.FieldsSeq(cut(dom.Attr(el, "itemtype"))) {
				if n.Typed = true; strings.Contains(name, ":") { // an address, or prefixed by mistake
					n.addTypes(name)
				}
			}
		},
		value: func(_ *Node, _ *html.Node, v Value) Value { return v },
		refs:  func(el *html.Node) string { return dom.Attr(el, "itemref") },
	}
	m.read()
}

// readRDFa reads RDFa Lite: vocab, typeof, property, resource and prefix, with
// the values that HTML+RDFa 1.1 takes from content, href, src and datetime.
func readRDFa(doc *page.Document, g *Graph) {
	words := vocabularies{}
	m := markup{
		g: g, doc: doc, syntax: SourceRDFa, scopes: doc.Typed, property: "property",
		begins: func(el *html.Node) bool {
			return dom.HasAttr(el, "typeof") || dom.HasAttr(el, "resource") && dom.Attr(el, "property") == ""
		},
		names: func(item *Node, el *html.Node) []string {
			written := dom.Head(dom.Attr(el, "property"))
			if written == "" {
				return nil
			}
			within := el
			if item.From != nil && !dom.HasAttr(el, "vocab") && !dom.HasAttr(el, "prefix") {
				within = item.From
			}
			return words.of(within).names(written)
		},
		open: func(el *html.Node, n *Node) {
			n.ID = cut(strings.TrimSpace(dom.Attr(el, "resource")))
			n.Typed = dom.Attr(el, "typeof") != ""
			n.addTypes(words.of(el).names(cut(dom.Attr(el, "typeof")))...)
		},
		value: func(_ *Node, el *html.Node, v Value) Value {
			if resource := cut(strings.TrimSpace(dom.Attr(el, "resource"))); resource != "" && !dom.HasAttr(el, "content") {
				ref := g.newNode(SourceRDFa)
				ref.ID = resource
				return Value{Node: ref}
			}
			return v
		},
		refs: func(*html.Node) string { return "" },
	}
	m.read()
}

// vocabulary says what plain and prefixed names mean at an element.
type vocabulary struct {
	schema   bool            // plain names are of schema.org
	prefixes map[string]bool // prefixes that stand for schema.org
}

// vocabularies caches the vocabularies of elements.
type vocabularies map[*html.Node]vocabulary

// of returns the vocabulary of an element: the nearest vocab and prefix around
// it. It goes up as deep as the page is nested, which is no more than 512.
func (all vocabularies) of(el *html.Node) vocabulary {
	if el == nil {
		return vocabulary{}
	}
	found, known := all[el]
	if known {
		return found
	}
	found = all.of(el.Parent)
	for _, a := range el.Attr {
		switch a.Key {
		case "vocab":
			found.schema = isSchema(a.Val)
		case "prefix":
			found.prefixes = prefixes(cut(a.Val))
		}
	}
	all[el] = found
	return found
}

func isSchema(address string) bool {
	return len(address) > 0 && fromSchema(strings.TrimSpace(address)) == ""
}

// prefixes reads "og: http://ogp.me/ns# s: http://schema.org/".
func prefixes(written string) map[string]bool {
	found := map[string]bool{}
	words := strings.Fields(written)
	for i := 0; i+1 < len(words); i += 2 {
		if isSchema(words[i+1]) {
			found[strings.ToLower(words[i])] = true
		}
	}
	return found
}

// names returns those of the written names that are of schema.org.
func (v vocabulary) names(written string) (names []string) {
	for word := range strings.FieldsSeq(written) {
		if at := strings.IndexByte(word, ':'); at >= 0 && v.prefixes[strings.ToLower(word[:at+1])] {
			word = word[at+1:]
		} else if at < 0 && !v.schema {
			continue
		}
		if name := Name(word); name != "" {
			names = append(names, name)
		}
	}
	return names
}
