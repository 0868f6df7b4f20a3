package page

import (
	"cmp"
	_ "embed"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/chassis"
	"ushuru/pkg/datatable"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

//go:embed makes.txt
var makeList string

// makes maps the squashed names of makes to their usual spelling.
var makes = func() map[string]string {
	table := map[string]string{}
	for _, row := range datatable.Lines(makeList, 1) {
		table[claim.Squash(row[0])] = row[0]
	}
	return table
}()

// KnownMake returns the usual spelling of a make, also of one in Japanese script; ok
// is false when the name is unknown.
func KnownMake(name string) (string, bool) {
	key := claim.Squash(claim.Plain(name))
	known, ok := makes[key]
	if authority, other := chassis.MakeOfKey(key); !ok && other {
		known, ok = makes[claim.Squash(authority)]
	}
	return known, ok
}

var metaPrice = regexp.MustCompile(`(?i)(?:fob|price)\s*:?\s*((?:us\$|usd|\$)\s?(?:\d{1,3}(?:,\d{3})+|\d+))`)

// ClaimMeta claims the values of the title, the og: metadata and the URL.
func ClaimMeta(doc *Document, c *claim.List) {
	c.Source, c.Rank = "page metadata", claim.RankMeta
	title := cmp.Or(doc.Meta["og:title"], doc.Title)
	c.Add(claim.FieldTitleYear, claim.YearIn(title))
	c.AddCode(doc.Title)
	c.AddCode(doc.Meta["og:title"])
	claimNames(doc, title, c)
	claimHeading(doc, c)
	if m := metaPrice.FindStringSubmatch(doc.Meta["og:description"]); m != nil {
		c.Add(claim.FieldPrice, m[1])
	}
	c.AddImages([]string{cmp.Or(doc.Meta["og:image:secure_url"], doc.Meta["og:image"])})
}

// claimHeading claims year, make and model of the first heading, where the title does
// not name them: "1995 Nissan Homy".
func claimHeading(doc *Document, c *claim.List) {
	for _, h1 := range doc.Tags[atom.H1] {
		if doc.IsForeign(h1) {
			continue
		}
		c.Add(claim.FieldTitleYear, claim.YearIn(dom.Text(h1)))
		ClaimName(doc, c, dom.Text(h1))
		return
	}
}

// ClaimName claims what a name such as "1995 Nissan Homy" says: make, model and grade.
func ClaimName(doc *Document, c *claim.List, name string) {
	words := strings.Fields(claim.Latin(name))
	for len(words) > 0 && beforeName.MatchString(words[0]) {
		words = words[1:]
	}
	maker, rest := CutMake(words)
	claimName(doc, c, maker, rest, gradeIn)
}

// claimNames reads "2010 TOYOTA SUCCEED VAN UL PACKAGE" with the help of the
// address: where it holds the make and then the model, /toyota/succeed%20van/,
// the rest of an og:title can be the grade.
func claimNames(doc *Document, title string, c *claim.List) {
	maker, rest := FindMake(strings.Fields(claim.Latin(title)))
	claimName(doc, c, maker, rest, func(grade string) string {
		if title == doc.Meta["og:title"] && isGrade(grade) {
			return grade
		}
		return ""
	})
}

// claimName claims a make, and the model and grade in the words after it.
func claimName(doc *Document, c *claim.List, maker string, rest []string, gradeIn func(string) string) {
	if maker == "" {
		return
	}
	c.Add(claim.FieldMake, maker)
	model, grade := splitName(doc, maker, rest)
	c.Add(claim.FieldModel, model)
	c.Add(claim.FieldVersion, gradeIn(grade))
}

// afterGrade begins what follows the grade in a heading.
var afterGrade = regexp.MustCompile(`(?i)\s(?:for sale|in|at|from|with|ref|stock)\b|\s[-–—|/(\[]|[,:;|(\[]|\b(?:19|20)\d\d\b`)

// gradeIn returns the grade at the front of the rest of a heading, "" when it is too
// long for one.
func gradeIn(rest string) string {
	if at := afterGrade.FindStringIndex(" " + rest); at != nil {
		rest = strings.TrimSpace((" " + rest)[:at[0]])
	}
	if len(rest) > 40 {
		return ""
	}
	return rest
}

// isGrade tells a grade, in capitals, from the name of the site and other words
// at the end of a title.
func isGrade(s string) bool {
	return len(s) <= 40 && s == strings.ToUpper(s) && !strings.ContainsAny(s, "|-–:")
}
