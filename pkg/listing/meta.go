package listing

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed makes.txt
var makeList string

// makes are the names of makes, squashed, as titles and addresses have them.
var makes = func() map[string]string {
	table := map[string]string{}
	for line := range strings.Lines(makeList) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "#") {
			table[squash(name)] = name
		}
	}
	return table
}()

var metaPrice = regexp.MustCompile(`(?i)(?:fob|price)\s*:?\s*((?:us\$|usd|\$)\s?(?:\d{1,3}(?:,\d{3})+|\d+))`)

// readMeta claims what title, og: metas and the address give.
func readMeta(doc *document, c *claims) {
	c.source, c.rank = "page metadata", RankMeta
	title := firstOf(doc.meta["og:title"], doc.title)
	c.add(fieldModelYear, yearOf(title))
	c.addCode(doc.title)
	c.addCode(doc.meta["og:title"])
	claimNames(doc, title, c)
	if m := metaPrice.FindStringSubmatch(doc.meta["og:description"]); m != nil {
		c.add(fieldPrice, m[1])
	}
	c.addImages([]string{firstOf(doc.meta["og:image:secure_url"], doc.meta["og:image"])})
}

// claimNames reads "2010 TOYOTA SUCCEED VAN UL PACKAGE" with the help of the
// address: where it holds the make and then the model, /toyota/succeed%20van/,
// the rest of an og:title can be the grade.
func claimNames(doc *document, title string, c *claims) {
	words := strings.Fields(title)
	for i := range words {
		maker, rest := cutMake(words[i:])
		if maker == "" {
			continue
		}
		c.add(fieldMake, maker)
		slug := slugAfter(doc.url, maker)
		if slug == "" {
			slug = trailAfter(doc, maker)
		}
		model, grade := split(rest, slug)
		c.add(fieldModel, model)
		if title == doc.meta["og:title"] && isGrade(grade) {
			c.add(fieldVersion, grade)
		}
		return
	}
}

// isGrade tells a grade, in capitals, from the name of the site and other words
// at the end of a title.
func isGrade(s string) bool {
	return len(s) <= 40 && s == strings.ToUpper(s) && !strings.ContainsAny(s, "|-–:")
}
