package page

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// pageNames are the names of the page's own car: the title, the headings and the URL,
// and what the site's adapter claims.
type pageNames struct {
	squashed string
	makers   map[string]bool // the makes that they name, squashed
	site     *card           // the claims of the site's adapter
}

// names returns the names of the page's own car.
func (d *Document) names(c *claim.List) pageNames {
	texts := []string{d.Title, d.Meta["og:title"]}
	for _, h1 := range d.Tags[atom.H1] {
		if !d.IsForeign(h1) {
			texts = append(texts, dom.Text(h1))
		}
	}
	for _, address := range []*url.URL{d.URL, d.Resolve(d.Canonical)} {
		texts = append(texts, unslug.Replace(strings.ReplaceAll(address.Path, "/", " ")))
	}
	site := siteCard(c)
	texts = append(texts, site.first[claim.FieldMake]+" "+site.first[claim.FieldModel], site.first[claim.FieldStock])
	for i, text := range texts {
		texts[i] = claim.Latin(text)
	}
	return pageNames{claim.Squash(strings.Join(texts, " ")), makersIn(texts), site}
}

// siteCard returns the claims of the site's adapter as a card.
func siteCard(c *claim.List) *card {
	site := &card{first: map[string]string{}}
	for _, claimed := range c.All {
		if claimed.Rank == claim.RankSite && claimed.Rejected == "" && site.first[claimed.Field] == "" {
			site.first[claimed.Field] = claimed.Value
		}
	}
	return site
}

// makersIn returns the makes that texts name, squashed.
func makersIn(texts []string) map[string]bool {
	makers := map[string]bool{}
	for _, text := range texts {
		words := strings.Fields(text)
		for i := range words {
			if maker, _ := CutMake(words[i:]); maker != "" {
				makers[claim.Squash(maker)] = true
			}
		}
	}
	return makers
}

// has reports whether the names contain a text.
func (p pageNames) has(s string) bool {
	key := claim.Squash(s)
	return len(key) > 1 && strings.Contains(p.squashed, key)
}

// confirm reports a card whose model or stock number the names contain, or which
// agrees with the site's own claims.
func (p pageNames) confirm(c *card) bool {
	return p.has(c.first[claim.FieldModel]) || p.has(c.first[claim.FieldStock]) || len(p.site.first) > 1
}

// isOtherMake reports a known make that the names do not contain, while they contain
// another.
func (p pageNames) isOtherMake(maker string) bool {
	known, ok := KnownMake(maker)
	return ok && len(p.makers) > 0 && !p.makers[claim.Squash(known)]
}

// contradict reports a card of another make than the page names, or of another model
// or stock number while a different card has the page's.
func (p pageNames) contradict(c *card, all []*card) bool {
	if p.isOtherMake(c.first[claim.FieldMake]) || differ(c, p.site) {
		return true
	}
	for _, field := range []string{claim.FieldModel, claim.FieldStock} {
		value := c.first[field]
		if value == "" || p.has(value) {
			continue
		}
		for _, other := range all {
			own := other.first[field]
			if other != c && own != "" && p.has(own) && !claim.Equal(field, own, value) {
				return true
			}
		}
	}
	return false
}

// maxBoxText is the length in bytes up to which the text around a card belongs to it.
const maxBoxText = 300

// namesOther reports that a card, or the box around it, names another car than the
// page does. main is the page's own card, nil when it is not known yet.
func (d *Document) namesOther(c, main *card, names pageNames) bool {
	var mainGroup *html.Node
	if main != nil {
		mainGroup = main.group
		if names.contradict(c, []*card{c, main}) {
			return true
		}
		names = names.with(main)
	}
	if c.group == nil || mainGroup != nil && dom.Contains(c.group, mainGroup) || c.group.DataAtom == atom.Body {
		return false
	}
	box := c.group
	for p := box; p != nil && p.DataAtom != atom.Body && !d.hasHeading(p); p = p.Parent {
		if mainGroup != nil && dom.Contains(p, mainGroup) || len(dom.Text(p)) > maxBoxText {
			break
		}
		box = p
	}
	return boxNames(box, names)
}

// with adds the make and model of the page's own card to names without a make.
func (p pageNames) with(main *card) pageNames {
	maker, ok := KnownMake(main.first[claim.FieldMake])
	if ok && len(p.makers) == 0 {
		p.makers = map[string]bool{claim.Squash(maker): true}
		p.squashed += " " + claim.Squash(maker+main.first[claim.FieldModel])
	}
	return p
}

// maxNames bounds the names in a box that are examined.
const maxNames = 30

// boxNames reports that a heading, a link, a text in bold or the beginning of a box is
// the name of another car.
func boxNames(box *html.Node, names pageNames) bool {
	if box == nil {
		return false
	}
	if names.isOtherName(dom.Text(box)) {
		return true
	}
	examined := 0
	for n := range dom.Elements(box) {
		switch n.DataAtom {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.A, atom.B, atom.Strong:
			if names.isOtherName(dom.Text(n)) {
				return true
			}
		case atom.Img:
			if names.isOtherName(dom.Attr(n, "alt")) {
				return true
			}
		default:
			continue
		}
		if examined++; examined > maxNames {
			break
		}
	}
	return false
}

var beforeName = regexp.MustCompile(`^(?i)(?:used|new|for sale:?|(?:19|20)\d\d(?:[/.]\d{1,2})?)$`)

// isOtherName reports a text that begins with the name of another car: "1997 ISUZU
// BIGHORN".
func (p pageNames) isOtherName(text string) bool {
	words := strings.Fields(text)
	for len(words) > 0 && beforeName.MatchString(words[0]) {
		words = words[1:]
	}
	maker, rest := CutMake(words)
	switch {
	case maker == "" || len(p.makers) == 0:
		return false
	case p.isOtherMake(maker):
		return true
	}
	return len(rest) > 0 && claim.FieldOf(rest[0]) == "" && isName(rest[0]) && !p.has(maker+rest[0])
}

// isName reports a word that can be the name of a model.
func isName(word string) bool {
	key := claim.Squash(word)
	return len(key) > 1 && strings.ToUpper(word[:1]) == word[:1] && word[len(word)-1] != ':'
}

// hasHeading reports whether the page's h1 is inside an element.
func (d *Document) hasHeading(n *html.Node) bool {
	for _, h1 := range d.Tags[atom.H1] {
		if dom.Contains(n, h1) {
			return true
		}
	}
	return false
}

// NamesCar reports whether the names of the page contain a name, and whether they
// contain another make than the given one.
func (d *Document) NamesCar(c *claim.List, maker, model string) (named, other bool) {
	names := d.names(c)
	return names.has(model), names.isOtherMake(maker)
}
