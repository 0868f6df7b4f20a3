package listing

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// cutMake cuts the name of a make, of up to two words, from the front of words.
func cutMake(words []string) (maker string, rest []string) {
	for n := min(2, len(words)); n > 0; n-- {
		if maker, ok := makes[squash(strings.Join(words[:n], ""))]; ok {
			return maker, words[n:]
		}
	}
	return "", nil
}

// addName claims make, model and grade of a name such as "HONDA FIT 13G". Where
// the model ends must be known from elsewhere: the page's address, its trail of
// links, or a shorter form of the name. A single word is the model.
func (c *claims) addName(doc *document, full, shorter string) {
	maker, words := cutMake(strings.Fields(full))
	if maker == "" {
		return
	}
	c.add(fieldMake, maker)
	model, grade := split(words, slugAfter(doc.url, maker))
	if model == "" {
		model, grade = split(words, trailAfter(doc, maker))
	}
	if _, short := cutMake(strings.Fields(shorter)); model == "" && len(short) < len(words) {
		model, grade = split(words, squash(strings.Join(short, "")))
	}
	if model == "" && len(words) == 1 {
		model = words[0]
	}
	c.add(fieldModel, model)
	c.add(fieldVersion, grade)
}

// unslug makes words of a slug.
var unslug = strings.NewReplacer("_", " ", "-", " ", "+", " ")

// addSlugs claims make and model of an address: land_cruiser, succeed%20van.
func (c *claims) addSlugs(maker, model string) {
	known, ok := makes[squash(maker)]
	if !ok {
		return
	}
	c.add(fieldMake, known)
	c.add(fieldModel, unslug.Replace(model))
}

// slugAfter returns the segment of an address after that of the make.
func slugAfter(u *url.URL, maker string) string {
	segments := strings.Split(u.Path, "/")
	for i, segment := range segments[:len(segments)-1] {
		if squash(segment) == squash(maker) {
			return squash(segments[i+1])
		}
	}
	return ""
}

// trailAfter returns the link after that of the make in the trail of links from
// the home page to this one.
func trailAfter(doc *document, maker string) string {
	last := ""
	steps := 0
	for n := range elements(trail(doc)) {
		if steps++; steps > maxSteps {
			break
		}
		if n.DataAtom != atom.A {
			continue
		}
		if last == squash(maker) {
			return squash(text(n))
		}
		last = squash(text(n))
	}
	return ""
}

// trail returns the element that holds the trail of links, nil for none.
func trail(doc *document) *html.Node {
	for _, tag := range []atom.Atom{atom.Ol, atom.Ul, atom.Div} {
		for _, n := range doc.tags[tag] {
			names := strings.ToLower(start(attr(n, "class")) + " " + start(attr(n, "id")))
			for _, word := range []string{"bread", "pankuzu", "topicpath", "topic-path"} {
				if strings.Contains(names, word) {
					return n
				}
			}
		}
	}
	return nil
}

// split cuts the words that spell the slug from the front of a name.
func split(words []string, slug string) (model, rest string) {
	for i := range words {
		if slug != "" && squash(strings.Join(words[:i+1], "")) == slug {
			return strings.Join(words[:i+1], " "), strings.Join(words[i+1:], " ")
		}
	}
	return "", ""
}
