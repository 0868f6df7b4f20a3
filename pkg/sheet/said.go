package sheet

import (
	"slices"
	"strings"

	"ushuru/pkg/condition"
)

// Said is what the reader answered when it was asked whether the sheet speaks of one
// thing: accident, flood and so on.
type Said struct {
	About   string `json:"about"`  // accident, flood, fire, theft, meter, frame, engine or airbag
	Answer  string `json:"answer"` // yes, no or not_said
	QuoteJP string `json:"quote_jp,omitempty"`
	// Found reports that the quote is among the texts that were read.
	Found bool `json:"found"`
}

// Subjects are what the reader is asked about.
var Subjects = []condition.Category{"accident", "flood", "fire", "theft", "meter", "frame", "engine", "airbag"}

// said joins the answers of the reader with the words of the sheet: the graver holds.
// An answer never clears a word, a mark or a grade.
func (l *flagList) said(r *Report) {
	for _, said := range r.Said {
		if said.Answer != "yes" {
			continue
		}
		category := condition.Category(said.About)
		words := condition.Read(said.QuoteJP)
		switch {
		case said.QuoteJP == "" || !said.Found, isDenial(words):
			if !l.hasGrave(category) {
				l.append(RedFlag{
					Rule: FlagWithoutQuote, Category: category, Level: condition.Doubt, QuoteJP: said.QuoteJP,
					Text: withAbout(TextOf("flag", FlagWithoutQuote), category), Severity: Medium,
				})
			}
		case words.Severity().Rank() >= condition.Caution.Rank() && !words.Severity().IsGrave():
			l.text(said.QuoteJP) // our tables know it, and it is not grave
		case !l.hasGrave(category):
			l.say(condition.Finding{Category: category, Severity: condition.Grave}, said.QuoteJP, "")
		}
	}
}

// isDenial reports whether a quote denies what it is quoted for.
func isDenial(j condition.Judgement) bool { return len(j.Denied) > 0 && !j.Severity().IsGrave() }

func (l *flagList) hasGrave(category condition.Category) bool {
	return slices.ContainsFunc(l.flags, func(f RedFlag) bool { return f.Category == category && f.Level.IsGrave() })
}

// withAbout adds what a sentence is about.
func withAbout(t Text, category condition.Category) Text {
	about := TextOf("about", string(category))
	return Text{EN: strings.TrimSuffix(t.EN, ".") + ": " + about.EN, SW: t.SW + ": " + about.SW}
}
