package graph

import (
	"strings"

	"golang.org/x/net/html"

	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

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
