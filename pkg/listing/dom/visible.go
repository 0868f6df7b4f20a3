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
	rules, seen := stylesOf(sheets), map[string]*classEffect{}
	for n := range Elements(root) {
		classes := Head(Attr(n, "class"))
		byClass := seen[classes]
		if byClass == nil {
			byClass = &classEffect{isHiddenClass(classes), isStruckClass(classes), rules.hasClass(classes)}
			seen[classes] = byClass
		}
		own, ruled := effectOf(Head(Attr(n, "style"))), rules.of(n, classes, byClass.ruled)
		if isHidden(n, own, ruled, byClass.hides) {
			n.Attr = append(n.Attr, html.Attribute{Key: hiddenMark})
		}
		if byClass.strikes || own.strikes || ruled.strikes || isStruckTag(n.DataAtom) {
			n.Attr = append(n.Attr, html.Attribute{Key: struckMark})
		}
	}
}

// classEffect is what the names of the classes of an element say, whatever the style sheets say
// of them, and whether these have rules for one of the classes. Most elements of a page have the
// classes of others.
type classEffect struct{ hides, strikes, ruled bool }

// isHidden reports whether an element is not shown, by its own style, by the rules for it and by
// the names of its classes. What scripts lift from the whole page does not hide it.
func isHidden(n *html.Node, own, ruled effect, byClass bool) bool {
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
	if byClass || own.hides() || HasAttr(n, "hidden") {
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
	for _, a := range slices.Backward(n.Attr) {
		switch key := a.Key; {
		case key == mark:
			return true
		case key[0] > 'Z': // of the page: the marks are the last
			return false
		}
	}
	return false
}

// IsVisible reports an element that exists, is shown, and is in no element that is not.
func IsVisible(n *html.Node) bool { return n != nil && !AnyAncestor(n, IsHidden) }
