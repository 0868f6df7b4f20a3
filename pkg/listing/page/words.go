package page

import (
	"strings"

	"golang.org/x/net/html"

	"ushuru/pkg/listing/dom"
)

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
