package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// struckMark is an attribute that marks an element which the page's style sheet
// strikes out. No page can set it: an HTML parser writes names in lower case.
const struckMark = "Struck"

var (
	struckRule     = regexp.MustCompile(`([^{}]*)\{[^{}]*line-through[^{}]*\}`)
	simpleSelector = regexp.MustCompile(`([.#])([\w-]+)\s*$`)
)

// maxStyle bounds the style sheets of one page, in bytes.
const maxStyle = 1 << 20

// readStyles marks the elements that the page's own style sheets strike out by class
// or id.
func (d *Document) readStyles() {
	classes, ids, size := map[string]bool{}, map[string]bool{}, 0
	for _, style := range d.Tags[atom.Style] {
		if style.FirstChild == nil {
			continue
		}
		if size += len(style.FirstChild.Data); size > maxStyle {
			break
		}
		for _, rule := range struckRule.FindAllStringSubmatch(style.FirstChild.Data, -1) {
			for selector := range strings.SplitSeq(rule[1], ",") {
				if m := simpleSelector.FindStringSubmatch(strings.TrimSpace(selector)); m != nil && m[1] == "." {
					classes[m[2]] = true
				} else if m != nil {
					ids[m[2]] = true
				}
			}
		}
	}
	if len(classes)+len(ids) == 0 {
		return
	}
	for n := range Elements(Body(d)) {
		struck := ids[Attr(n, "id")]
		for class := range strings.FieldsSeq(Head(Attr(n, "class"))) {
			struck = struck || classes[class]
		}
		if struck {
			n.Attr = append(n.Attr, html.Attribute{Key: struckMark})
		}
	}
}

// struckClasses are words in class names of prices that no longer hold.
var struckClasses = map[string]bool{
	"old": true, "was": true, "original": true, "strike": true, "strikethrough": true, "striked": true, "struck": true,
	"crossed": true, "previous": true, "linethrough": true, "before": true,
}

// IsStruck reports an element that is struck out by its tag, its style, its class or
// the page's style sheet.
func IsStruck(n *html.Node) bool {
	switch n.DataAtom {
	case atom.S, atom.Del, atom.Strike:
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case struckMark:
			return true
		case "style":
			if strings.Contains(strings.ToLower(Head(a.Val)), "line-through") {
				return true
			}
		case "class":
			if isStruckClass(Head(a.Val)) {
				return true
			}
		}
	}
	return false
}

// isStruckClass reports a class such as "old-price", "price--was" or "line-through".
func isStruckClass(classes string) bool {
	lower := strings.ToLower(classes)
	if strings.Contains(lower, "line-through") {
		return true
	}
	for class := range strings.FieldsSeq(lower) {
		words := strings.FieldsFunc(class, func(r rune) bool { return r == '-' || r == '_' })
		for _, word := range words {
			certain := len(words) == 1 || strings.Contains(class, "price") || strings.HasPrefix(word, "strike")
			if certain && struckClasses[word] {
				return true
			}
		}
	}
	return strings.Contains(lower, "oldprice") || strings.Contains(lower, "priceold") || strings.Contains(lower, "wasprice")
}
