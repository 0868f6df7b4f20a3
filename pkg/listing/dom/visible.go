package dom

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
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
	rules := stylesOf(sheets)
	isTagRuled, isEachRuled := len(rules.tags) > 0, len(rules.tags[""]) > 0
	for n := range Elements(root) {
		var styled, ruled effect
		own := looksOf(n)
		named := rules.ofClasses(own.classes)
		if own.style != "" {
			styled = effectOf(own.style)
		}
		isRuled := named.ruled || isEachRuled || isTagRuled && len(rules.tags[n.Data]) > 0
		if isRuled || own.id != "" && len(rules.ids) > 0 {
			ruled = rules.of(n, own)
		}
		if isHidden(n, styled, ruled, named.hides || own.hidden) {
			n.Attr = append(n.Attr, html.Attribute{Key: hiddenMark})
		}
		if named.strikes || isStruckTag(n.DataAtom) || styled.strikes || ruled.strikes {
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

// classEffect is what the names of an element's classes say of it, whatever the style sheets
// say, and whether these have rules for one of the classes. Most elements share their classes
// with others.
type classEffect struct{ hides, strikes, ruled bool }

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

// struckClasses are words in class names of prices that no longer hold.
var struckClasses = map[string]bool{
	"old": true, "was": true, "original": true, "strike": true, "strikethrough": true, "striked": true, "struck": true,
	"crossed": true, "previous": true, "linethrough": true, "before": true,
}

// struckParts are the beginnings of the words of struckClasses; few class names have one.
var struckParts = claim.NewWords("old", "was", "original", "stri", "struck", "crossed", "previous", "line", "before")

// isStruckTag reports an element that strikes out.
func isStruckTag(tag atom.Atom) bool { return tag == atom.S || tag == atom.Del || tag == atom.Strike }

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

// Bounds of the style sheets of one page.
const (
	maxStyle     = 1 << 20 // bytes
	maxRules     = 2000    // that hide, show or strike out
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

// The weights of a rule's place, of the parts of its selector, as CSS orders them, and of
// !important.
const (
	weightOfPlace     = 1
	weightOfTag       = weightOfPlace * maxRules * 2
	weightOfClass     = weightOfTag * 100
	weightOfID        = weightOfClass * 100
	weightOfImportant = weightOfID * 100
)

func weightOf(selector []compound) (weight int) {
	for _, c := range selector {
		weight += len(c.classes) * weightOfClass
		if c.tag != "" {
			weight += weightOfTag
		}
		if c.id != "" {
			weight += weightOfID
		}
	}
	return weight
}

// effect is what declarations say of an element. Of display and visibility the last
// declaration holds.
type effect struct {
	display, visibility string // the values, "" where nothing is said
	important, strikes  bool
}

// says reports whether the declarations say anything that is asked.
func (e effect) says() bool { return e.display != "" || e.visibility != "" || e.strikes }

func (e effect) hides() bool {
	return e.display == "none" || e.visibility == "hidden" || e.visibility == "collapse"
}

// effectOf reads declarations such as "color: red; display: none !important".
func effectOf(declarations string) (e effect) {
	for declaration := range strings.SplitSeq(strings.ToLower(declarations), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name = strings.TrimSpace(name)
		words := strings.Fields(strings.ReplaceAll(value, "!", " !"))
		if len(words) == 0 {
			continue
		}
		switch name {
		case "display":
			e.display = words[0]
		case "visibility":
			e.visibility = words[0]
		case "text-decoration", "text-decoration-line", "text-decoration-thickness", "-webkit-text-decoration":
			e.strikes = e.strikes || strings.Contains(value, "line-through")
			continue
		default:
			continue
		}
		e.important = e.important || words[len(words)-1] == "!important"
	}
	return e
}

// rule is what a style sheet says of the elements of a selector.
type rule struct {
	selector []compound
	effect   effect
	weight   int // of two that weigh the same the later counts more
}

// styles are the rules of a page by what the last part of their selector asks first: the id,
// a class or the tag of the element that they are for.
type styles struct {
	ids, classes, tags map[string][]rule
	named              map[string]classEffect // by the classes of an element, as they are written
}

// listOf returns the list that has the rules of a selector, and their key in it.
func (s styles) listOf(selector []compound) (list map[string][]rule, key string) {
	last := selector[len(selector)-1]
	switch {
	case last.id != "":
		return s.ids, last.id
	case len(last.classes) > 0:
		return s.classes, last.classes[0]
	}
	return s.tags, last.tag
}

var cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// stylesOf reads the style sheets of a page. A rule that only holds at some widths or on
// some media strikes out, and neither hides nor shows.
func stylesOf(sheets []*html.Node) styles {
	all, size, count := styles{map[string][]rule{}, map[string][]rule{}, map[string][]rule{}, map[string]classEffect{}}, 0, 0
	for _, sheet := range sheets {
		if sheet.FirstChild == nil {
			continue
		}
		text := sheet.FirstChild.Data
		if size += len(text); size > maxStyle {
			break
		}
		if !strings.Contains(text, "line-through") && !strings.Contains(text, "none") && !strings.Contains(text, "hidden") {
			continue
		}
		for block := range blocksOf(cssComment.ReplaceAllString(text, " ")) {
			count = all.add(block, count)
		}
	}
	return all
}

// add adds the rules of a block to so many, and returns how many there are.
func (s styles) add(b block, count int) int {
	said := effectOf(b.declarations)
	if b.isConditional {
		said.display, said.visibility = "", ""
	}
	if !said.says() {
		return count
	}
	for written := range strings.SplitSeq(b.selectors, ",") {
		selector, ok := parseSelector(written)
		if !ok || count == maxRules || said.strikes && !strings.ContainsAny(written, ".#") {
			continue
		}
		count++
		r := rule{selector: selector, effect: said, weight: weightOf(selector) + count*weightOfPlace}
		if said.important {
			r.weight += weightOfImportant
		}
		list, key := s.listOf(selector)
		list[key] = append(list[key], r)
	}
	return count
}

// block is one rule of a style sheet as it is written.
type block struct {
	selectors, declarations string
	isConditional           bool // inside an at-rule or another rule
}

// blocksOf walks the rules of a style sheet.
func blocksOf(sheet string) iter.Seq[block] {
	return func(yield func(block) bool) {
		for depth := 0; ; {
			at := strings.IndexAny(sheet, "{}")
			if at < 0 {
				return
			}
			head, opens := sheet[strings.LastIndexByte(sheet[:at], ';')+1:at], sheet[at] == '{'
			head, sheet = strings.TrimSpace(head), sheet[at+1:]
			switch {
			case !opens:
				depth = max(0, depth-1)
				continue
			case strings.HasPrefix(head, "@"):
				depth++
				continue
			}
			end := strings.IndexAny(sheet, "{}")
			if end < 0 {
				return
			}
			if sheet[end] == '{' { // rules inside this one follow its own declarations
				end = strings.LastIndexByte(sheet[:end], ';') + 1
				if !yield(block{head, sheet[:end], depth > 0}) {
					return
				}
				depth++
				sheet = sheet[end:]
				continue
			}
			if !yield(block{head, sheet[:end], depth > 0}) {
				return
			}
			sheet = sheet[end+1:]
		}
	}
}

// ofClasses returns what the names of classes say of an element, which it works out once.
func (s styles) ofClasses(classes string) classEffect {
	if classes == "" {
		return classEffect{}
	}
	named, known := s.named[classes]
	if !known {
		isRuled := func(class string) bool { return len(s.classes[class]) > 0 }
		named = classEffect{isHiddenClass(classes), isStruckClass(classes), slices.ContainsFunc(strings.Fields(classes), isRuled)}
		s.named[classes] = named
	}
	return named
}

// of returns what the rules say of an element: of those that hide or show it the one that
// weighs most, the later of two equals.
func (s styles) of(n *html.Node, own looks) (said effect) {
	display, visibility := -1, -1
	apply := func(rules []rule) {
		for _, r := range rules {
			if r.weight < display && r.weight < visibility && !r.effect.strikes || !selects(r.selector, n) {
				continue
			}
			said.strikes = said.strikes || r.effect.strikes
			if r.effect.display != "" && r.weight >= display {
				display, said.display = r.weight, r.effect.display
				said.important = r.effect.important
			}
			if r.effect.visibility != "" && r.weight >= visibility {
				visibility, said.visibility = r.weight, r.effect.visibility
			}
		}
	}
	apply(s.tags[""])
	apply(s.tags[n.Data])
	apply(s.ids[own.id])
	for class := range strings.FieldsSeq(own.classes) {
		apply(s.classes[class])
	}
	return said
}
