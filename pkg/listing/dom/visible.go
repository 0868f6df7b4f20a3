package dom

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The attributes that mark an element which the page does not show, or strikes out. No
// page can set them: an HTML parser writes names in lower case.
const (
	hiddenMark = "Hidden"
	struckMark = "Struck"
)

// MarkVisibility works out, once for a document, which elements from a node on are not
// shown, and which are struck out: by their tag, attributes, classes and style, and by the
// style sheets of the page itself. IsHidden and IsStruck are its answers.
func MarkVisibility(root *html.Node, sheets []*html.Node) {
	rules, seen := stylesOf(sheets), map[kind]*kindEffect{}
	for n := range Elements(root) {
		own := looksOf(n)
		byKind := seen[kind{n.Data, own.classes}]
		if byKind == nil {
			strikes := isStruckClass(own.classes) || isStruckTag(n.DataAtom)
			byKind = &kindEffect{isHiddenClass(own.classes), strikes, rules.mayStyle(n, own)}
			seen[kind{n.Data, own.classes}] = byKind
		}
		var styled, ruled effect
		if own.style != "" {
			styled = effectOf(own.style)
		}
		if byKind.ruled || own.id != "" && len(rules.ids) > 0 {
			ruled = rules.of(n, own)
		}
		if isHidden(n, styled, ruled, byKind.hides || own.hidden) {
			n.Attr = append(n.Attr, html.Attribute{Key: hiddenMark})
		}
		if byKind.strikes || styled.strikes || ruled.strikes {
			n.Attr = append(n.Attr, html.Attribute{Key: struckMark})
		}
	}
}

// looks are the attributes of an element that decide whether it is shown.
type looks struct {
	classes, style, id string
	hidden             bool
}

func looksOf(n *html.Node) (own looks) {
	for _, a := range slices.Backward(n.Attr) { // of two the first holds
		switch a.Key {
		case "hidden":
			own.hidden = true
		case "class":
			own.classes = Head(a.Val)
		case "style":
			own.style = Head(a.Val)
		case "id":
			own.id = a.Val
		}
	}
	return own
}

// kind are the elements of a tag with the same classes. Most elements of a page are of the kind
// of others.
type kind struct{ tag, classes string }

// kindEffect is what the tag and the names of the classes say of the elements of a kind, whatever
// the style sheets say of them, and whether these have rules for the tag or one of the classes.
type kindEffect struct{ hides, strikes, ruled bool }

// isHidden reports whether an element is not shown, by its own style, by the rules for it, and by
// the names of its classes or the attribute for that. What scripts lift from the whole page does
// not hide it.
func isHidden(n *html.Node, own, ruled effect, isNamed bool) bool {
	switch n.DataAtom {
	case atom.Html, atom.Body:
		return false
	case atom.Template, atom.Noscript:
		return true
	case atom.Dialog:
		if !HasAttr(n, "open") {
			return true
		}
	}
	if isNamed || own.hides() {
		return true
	}
	if own.display != "" && !ruled.important {
		ruled.display = ""
	}
	if own.visibility != "" {
		ruled.visibility = ""
	}
	return ruled.hides()
}

// hiddenClasses are the classes by which Bulma, Bootstrap and Tailwind hide.
var hiddenClasses = map[string]bool{
	"is-hidden": true, "d-none": true, "hidden": true, "sr-only": true, "visually-hidden": true,
}

// isHiddenClass reports classes that hide an element at every width: "d-none d-md-block"
// and "hidden lg:flex" show it on wide screens.
func isHiddenClass(classes string) bool {
	if !strings.Contains(classes, "hidden") && !strings.Contains(classes, "d-none") && !strings.Contains(classes, "sr-only") {
		return false
	}
	hides := false
	for class := range strings.FieldsSeq(classes) {
		hides = hides || hiddenClasses[class]
		if isShownAtAWidth(class) {
			return false
		}
	}
	return hides
}

// isShownAtAWidth reports a class such as "d-md-block", "lg:flex" or "sm:not-sr-only".
func isShownAtAWidth(class string) bool {
	width, display, ok := strings.Cut(class, ":")
	if !ok {
		if class, ok = strings.CutPrefix(class, "d-"); ok {
			width, display, ok = strings.Cut(class, "-")
		}
	}
	switch width {
	case "sm", "md", "lg", "xl", "2xl", "xxl":
		return ok && display != "none" && display != "hidden"
	}
	return false
}

// IsHidden reports an element that is not shown, whatever is around it.
func IsHidden(n *html.Node) bool { return isMarked(n, hiddenMark) }

// IsStruck reports an element that is struck out by its tag, its style, its class or
// the page's style sheet.
func IsStruck(n *html.Node) bool { return isMarked(n, struckMark) }

func isMarked(n *html.Node, mark string) bool {
	for i := len(n.Attr) - 1; i >= 0 && n.Attr[i].Key[0] <= 'Z'; i-- { // the marks are the last
		if n.Attr[i].Key == mark {
			return true
		}
	}
	return false
}

// IsVisible reports an element that exists, is shown, and is in no element that is not.
func IsVisible(n *html.Node) bool { return n != nil && !AnyAncestor(n, IsHidden) }
