package dom

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
)

// struckMark is an attribute that marks an element which the page's style sheet
// strikes out. No page can set it: an HTML parser writes names in lower case.
const struckMark = "Struck"

var struckRule = regexp.MustCompile(`([^{}]*)\{[^{}]*line-through[^{}]*\}`)

// Bounds of the style sheets of one page.
const (
	maxStyle     = 1 << 20 // bytes
	maxSelectors = 100     // that strike out
	maxCompounds = 6       // elements that one selector names
)

// compound is what a selector asks of one element: a tag, an id and classes.
type compound struct {
	tag, id string
	classes []string
}

var compoundForm = regexp.MustCompile(`^([\w-]*|\*)((?:[.#][\w-]+)*)$`)

// parseSelector parses a selector of tags, classes and ids. A child (>) is taken for any
// descendant; ok is false for any other selector.
func parseSelector(s string) (selector []compound, ok bool) {
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, ">", " ")) {
		m := compoundForm.FindStringSubmatch(word)
		if m == nil || len(selector) == maxCompounds {
			return nil, false
		}
		own := compound{tag: strings.ToLower(strings.Trim(m[1], "*"))}
		for part := range strings.SplitSeq(strings.ReplaceAll(m[2], "#", ".#"), ".") {
			switch {
			case part == "":
			case part[0] == '#':
				own.id = part[1:]
			default:
				own.classes = append(own.classes, part)
			}
		}
		selector = append(selector, own)
	}
	return selector, len(selector) > 0
}

func (c *compound) matches(n *html.Node) bool {
	if n.Type != html.ElementNode || c.tag != "" && c.tag != n.Data || c.id != "" && c.id != Attr(n, "id") {
		return false
	}
	for _, class := range c.classes {
		if !HasClass(n, class) {
			return false
		}
	}
	return true
}

// selects reports whether a selector selects an element.
func selects(selector []compound, n *html.Node) bool {
	last := len(selector) - 1
	if !selector[last].matches(n) {
		return false
	}
	for n = n.Parent; n != nil && last > 0; n = n.Parent {
		if selector[last-1].matches(n) {
			last--
		}
	}
	return last == 0
}

// MarkStruck marks the elements below a node that the page's own style sheets strike out.
func MarkStruck(root *html.Node, styles []*html.Node) {
	selectors := struckSelectors(styles)
	if len(selectors) == 0 {
		return
	}
	for n := range Elements(root) {
		for _, selector := range selectors {
			if selects(selector, n) {
				n.Attr = append(n.Attr, html.Attribute{Key: struckMark})
				break
			}
		}
	}
}

// struckSelectors returns the selectors of style sheets that strike out by class or id.
func struckSelectors(styles []*html.Node) (selectors [][]compound) {
	size := 0
	for _, style := range styles {
		if style.FirstChild == nil || !strings.Contains(style.FirstChild.Data, "line-through") {
			continue
		}
		if size += len(style.FirstChild.Data); size > maxStyle {
			break
		}
		for _, rule := range struckRule.FindAllStringSubmatch(style.FirstChild.Data, -1) {
			for written := range strings.SplitSeq(rule[1], ",") {
				selector, ok := parseSelector(written)
				if ok && strings.ContainsAny(written, ".#") && len(selectors) < maxSelectors {
					selectors = append(selectors, selector)
				}
			}
		}
	}
	return selectors
}

// struckClasses are words in class names of prices that no longer hold.
var struckClasses = map[string]bool{
	"old": true, "was": true, "original": true, "strike": true, "strikethrough": true, "striked": true, "struck": true,
	"crossed": true, "previous": true, "linethrough": true, "before": true,
}

// struckParts are the beginnings of the words of struckClasses; few class names have one.
var struckParts = claim.NewWords("old", "was", "original", "stri", "struck", "crossed", "previous", "line", "before")

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
	if !struckParts.In(classes) {
		return false
	}
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
