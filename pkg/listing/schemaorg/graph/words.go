package graph

import (
	"cmp"
	"html"
	"strings"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// Words returns the text of a value: a string, the name of a thing, the last
// part of a schema.org address. Any other address says nothing by itself.
func (v Value) Words() string {
	if v.Node != nil {
		n := v.Node.Full()
		for _, property := range []string{"name", "value"} {
			for _, inner := range n.Props[property] {
				if inner.Node == nil {
					return inner.Words()
				}
			}
		}
		if !IsAddress(n.ID) {
			return ""
		}
		return Name(n.ID)
	}
	if IsAddress(v.Text) {
		return Name(v.Text)
	}
	return claim.Clean(html.UnescapeString(v.Text))
}

// IsAddress reports an address, also a shortened one: schema:InStock.
func IsAddress(s string) bool {
	return (strings.Contains(dom.Head(s), "://") || strings.HasPrefix(s, "schema:")) && !strings.ContainsAny(s, " \t\r\n")
}

// Address returns the link that a value is: of a picture or a page, as a text or
// as a node.
func (v Value) Address() string {
	if v.Node == nil {
		return strings.TrimSpace(html.UnescapeString(cmp.Or(v.link, v.Text)))
	}
	n := v.Node.Full()
	for _, property := range []string{"contentUrl", "url", "image", "thumbnailUrl"} {
		for _, inner := range n.Props[property] {
			if link := strings.TrimSpace(cmp.Or(inner.link, inner.Text)); link != "" {
				return html.UnescapeString(link)
			}
		}
	}
	return n.ID
}

// Word returns the first text among the values of properties, in their order.
func (n *Node) Word(properties ...string) string {
	for _, property := range properties {
		for _, v := range n.Props[property] {
			if word := v.Words(); word != "" {
				return word
			}
		}
	}
	return ""
}

// Only returns the text of a property when all its values say the same.
func (n *Node) Only(property string) (word string) {
	for _, v := range n.Props[property] {
		next := v.Words()
		if word != "" && next != "" && claim.Squash(next) != claim.Squash(word) {
			return ""
		}
		word = cmp.Or(word, next)
	}
	return word
}
