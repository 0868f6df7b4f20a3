package listing

import (
	"strings"

	"golang.org/x/net/html"
)

// readMicrodata reads itemscope, itemtype, itemprop, itemid and itemref.
func readMicrodata(doc *document, g *graph) {
	m := markup{
		g: g, doc: doc, syntax: sourceMicrodata, scopes: doc.marked.scopes, property: "itemprop",
		begins: func(el *html.Node) bool { return hasAttr(el, "itemscope") },
		names: func(_ *node, el *html.Node) (names []string) {
			for written := range strings.FieldsSeq(start(attr(el, "itemprop"))) {
				if name := schemaName(written); name != "" {
					names = append(names, name)
				}
			}
			return names
		},
		open: func(el *html.Node, n *node) {
			n.id = cut(strings.TrimSpace(attr(el, "itemid")))
			for name := range strings.FieldsSeq(cut(attr(el, "itemtype"))) {
				if n.typed = true; strings.Contains(name, ":") { // an address, or prefixed by mistake
					n.addTypes(name)
				}
			}
		},
		value: func(_ *node, _ *html.Node, v value) value { return v },
		refs:  func(el *html.Node) string { return attr(el, "itemref") },
	}
	m.read()
}
