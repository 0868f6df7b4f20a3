package page

import (
	_ "embed"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/datatable"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// CutMake cuts the name of a make, of up to two words, from the front of words.
func CutMake(words []string) (maker string, rest []string) {
	for n := min(2, len(words)); n > 0; n-- {
		if maker, ok := KnownMake(strings.Join(words[:n], "")); ok {
			return maker, words[n:]
		}
	}
	return "", nil
}

// FindMake returns the first make that words name, with the words after it; "" for none.
func FindMake(words []string) (maker string, rest []string) {
	for i := range words {
		if maker, rest = CutMake(words[i:]); maker != "" {
			break
		}
	}
	return maker, rest
}

// AddName claims make, model and grade of a name such as "HONDA FIT 13G". Where
// the model ends must be known from elsewhere: the page's address, its trail of
// links, or a shorter form of the name. A single word is the model.
func AddName(c *claim.List, doc *Document, full, shorter string) {
	maker, words := CutMake(strings.Fields(full))
	if maker == "" {
		return
	}
	c.Add(claim.FieldMake, maker)
	model, grade := split(words, slugAfter(doc.URL, maker))
	if model == "" {
		model, grade = split(words, trailAfter(doc, maker))
	}
	if _, short := CutMake(strings.Fields(shorter)); model == "" && len(short) < len(words) {
		model, grade = split(words, claim.Squash(strings.Join(short, "")))
	}
	if model == "" && len(words) == 1 {
		model = words[0]
	}
	c.Add(claim.FieldModel, model)
	c.Add(claim.FieldVersion, grade)
}

// splitName splits the words after a make into model and grade: the model is what the
// URL or the trail of links has, else the longest nameplate that is known; a single
// word is the model.
func splitName(doc *Document, maker string, words []string) (model, grade string) {
	for _, slug := range []string{slugAfter(doc.URL, maker), trailAfter(doc, maker)} {
		if model, grade = split(words, slug); model == "" {
			continue
		}
		if _, rest := cutModel(maker, words); len(rest) < len(strings.Fields(grade)) {
			return model, "" // a longer nameplate is known: XLR, XLR-V
		}
		return model, grade
	}
	if model, rest := cutModel(maker, words); model != "" {
		return model, strings.Join(rest, " ")
	}
	if len(words) == 1 {
		return words[0], ""
	}
	return "", ""
}

// unslug makes words of a slug.
var unslug = strings.NewReplacer("_", " ", "-", " ", "+", " ")

// AddSlugs claims make and model of an address: land_cruiser, succeed%20van.
func AddSlugs(c *claim.List, maker, model string) {
	known, ok := makes[claim.Squash(maker)]
	if !ok {
		return
	}
	c.Add(claim.FieldMake, known)
	c.Add(claim.FieldModel, unslug.Replace(model))
}

// slugAfter returns the segment of an address after that of the make.
func slugAfter(u *url.URL, maker string) string {
	segments := strings.Split(u.Path, "/")
	for i, segment := range segments[:len(segments)-1] {
		if claim.Squash(segment) == claim.Squash(maker) {
			return claim.Squash(segments[i+1])
		}
	}
	return ""
}

// trailAfter returns the link after that of the make in the trail of links from
// the home page to this one.
func trailAfter(doc *Document, maker string) string {
	last := ""
	steps := 0
	for n := range dom.Elements(trail(doc)) {
		if steps++; steps > dom.MaxSteps {
			break
		}
		if n.DataAtom != atom.A {
			continue
		}
		if last == claim.Squash(maker) {
			return claim.Squash(dom.Text(n))
		}
		last = claim.Squash(dom.Text(n))
	}
	return ""
}

// trailWords are parts of the classes and ids of such a trail.
var trailWords = claim.NewWords("bread", "pankuzu", "topicpath", "topic-path")

// trail returns the element that holds the trail of links, nil for none.
func trail(doc *Document) *html.Node {
	for _, tag := range []atom.Atom{atom.Ol, atom.Ul, atom.Div} {
		for _, n := range doc.Tags[tag] {
			if dom.IsNamed(n, trailWords) {
				return n
			}
		}
	}
	return nil
}

// split cuts the words that spell the slug from the front of a name.
func split(words []string, slug string) (model, rest string) {
	for i := range words {
		if slug != "" && claim.Squash(strings.Join(words[:i+1], "")) == slug {
			return strings.TrimRight(strings.Join(words[:i+1], " "), " |,;"), strings.Join(words[i+1:], " ")
		}
	}
	return "", ""
}

//go:embed models.txt
var modelList string

// models are the squashed nameplates of each make, by the make's squashed name.
var models = func() map[string]map[string]bool {
	table := map[string]map[string]bool{}
	for _, row := range datatable.Lines(modelList, 1) {
		maker, list, _ := strings.Cut(row[0], ": ")
		own := map[string]bool{}
		for nameplate := range strings.SplitSeq(list, ", ") {
			own[claim.Squash(nameplate)] = true
		}
		table[claim.Squash(maker)] = own
	}
	return table
}()

// maxModelWords is the number of words of the longest nameplate.
const maxModelWords = 4

// cutModel cuts the longest nameplate of a make from the front of words.
func cutModel(maker string, words []string) (model string, rest []string) {
	own := models[claim.Squash(maker)]
	for n := min(maxModelWords, len(words)); n > 0; n-- {
		if own[claim.Squash(strings.Join(words[:n], ""))] {
			return strings.Trim(strings.Join(words[:n], " "), ",;"), words[n:]
		}
	}
	return "", words
}
