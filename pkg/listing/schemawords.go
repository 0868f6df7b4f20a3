package listing

import (
	"html"
	"strings"
)

// words returns the text of a value: a string, the name of a thing, the last
// part of a schema.org address. Any other address says nothing by itself.
func (v value) words() string {
	if v.node != nil {
		n := v.node.full()
		for _, property := range []string{"name", "value"} {
			for _, inner := range n.props[property] {
				if inner.node == nil {
					return inner.words()
				}
			}
		}
		if !isAddress(n.id) {
			return ""
		}
		return schemaName(n.id)
	}
	if isAddress(v.text) {
		return schemaName(v.text)
	}
	return clean(html.UnescapeString(v.text))
}

// isAddress reports an address, also a shortened one: schema:InStock.
func isAddress(s string) bool {
	return (strings.Contains(start(s), "://") || strings.HasPrefix(s, "schema:")) && !strings.ContainsAny(s, " \t\r\n")
}

// address returns the link that a value is: of a picture or a page, as a text or
// as a node.
func (v value) address() string {
	if v.node == nil {
		return strings.TrimSpace(html.UnescapeString(firstOf(v.link, v.text)))
	}
	n := v.node.full()
	for _, property := range []string{"contentUrl", "url", "image", "thumbnailUrl"} {
		for _, inner := range n.props[property] {
			if link := strings.TrimSpace(firstOf(inner.link, inner.text)); link != "" {
				return html.UnescapeString(link)
			}
		}
	}
	return n.id
}

// word returns the first text among the values of properties, in their order.
func (n *node) word(properties ...string) string {
	for _, property := range properties {
		for _, v := range n.props[property] {
			if word := v.words(); word != "" {
				return word
			}
		}
	}
	return ""
}

// only returns the text of a property when all its values say the same.
func (n *node) only(property string) (word string) {
	for _, v := range n.props[property] {
		next := v.words()
		if word != "" && next != "" && squash(next) != squash(word) {
			return ""
		}
		word = firstOf(word, next)
	}
	return word
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

func yearOf(s string) string {
	y, ok := year(s)
	if !ok {
		return ""
	}
	return y
}
