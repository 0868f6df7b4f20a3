// Package render writes the report on an auction sheet as text and as a drawing
// of the unfolded car, in English and Kiswahili.
package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/sheet"
)

// Text writes a report in ten sections, in English or Kiswahili; another language
// is an error. The text is plain Markdown: headings and lists, no links, no HTML.
// Japanese is quoted between 「 and 」.
//
// The mismatches are the result of sheet.Compare. Nil means that the sheet was not
// compared with a listing.
func Text(r *sheet.Report, lang string, mismatches []sheet.Mismatch) (string, error) {
	sections, err := Sections(r, lang, mismatches)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %d. %s\n\n", i+1, s.Heading)
		for _, line := range s.Lines {
			b.WriteString("- " + line + "\n")
		}
	}
	return b.String(), nil
}

// Section is a part of a report: a heading, and a line for each thing that it says.
type Section struct {
	Heading string
	Lines   []string
}

// Sections returns the ten sections of Text one by one.
func Sections(r *sheet.Report, lang string, mismatches []sheet.Mismatch) ([]Section, error) {
	if lang != sheet.English && lang != sheet.Swahili {
		return nil, fmt.Errorf("sheet: no language %q; there are %s and %s", lang, sheet.English, sheet.Swahili)
	}
	w := &writer{r: r, lang: lang}
	var sections []Section
	for i, section := range []func(){
		w.glance, func() { w.identity(mismatches) }, w.outside, w.inside, w.mechanical, w.repairs, w.mileage, w.equipment,
		w.unread, func() { w.ask(mismatches) },
	} {
		w.lines = nil
		section()
		if len(w.lines) == 0 {
			w.say("nothing")
		}
		sections = append(sections, Section{w.text("heading", strconv.Itoa(i+1)), w.lines})
	}
	return sections, nil
}

// writer writes the sentences of one language.
type writer struct {
	r     *sheet.Report
	lang  string
	lines []string // of the section
}

func (w *writer) text(list, key string) string { return sheet.TextOf(list, key).In(w.lang) }

// sentence returns a sentence of the table with its values.
func (w *writer) sentence(key string, values ...any) string {
	return fmt.Sprintf(w.text("say", key), values...)
}

// say writes a sentence of the table as a line.
func (w *writer) say(key string, values ...any) { w.line(w.sentence(key, values...)) }

func (w *writer) line(text string) {
	if text != "" && 'a' <= text[0] && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	w.lines = append(w.lines, text)
}

// sayIf writes a sentence about a value that is not nil.
func (w *writer) sayIf(key string, value *string) {
	if value != nil {
		w.say(key, *value)
	}
}

// sayNumber writes a sentence about a number that is not nil.
func (w *writer) sayNumber(key string, value *int) {
	if value != nil {
		w.say(key, strconv.Itoa(*value))
	}
}

// thousands formats a number with commas: 45,210.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// glance writes the first section: facts and warnings, no verdict.
func (w *writer) glance() {
	g := &w.r.Grades
	if g.OverallRaw == nil {
		w.say("grade_none")
	} else {
		w.say("grade", *g.OverallRaw, g.Meaning.In(w.lang))
		if *g.Group == sheet.Graded {
			w.say("grade_caps")
		}
	}
	w.say("grade_engine")
	if g.Exterior != nil || g.Interior != nil {
		w.say("letters", w.orNot(g.Exterior), w.orNot(g.Interior))
	}
	w.odometer()
	w.flagLine(false)
	w.registered()
	w.say("repair_" + string(w.r.RepairHistory.Status))
	if w.r.Readability.Overall != sheet.Full {
		w.say("covered")
	}
	w.say("confidence", w.text("say", "level_"+string(w.r.Confidence.Overall)))
	for _, flag := range w.warnings() {
		w.say("warning", flag)
	}
}

// warnings returns the red flags with their evidence, the gravest first.
func (w *writer) warnings() (list []string) {
	flags := slices.Clone(w.r.RedFlags)
	slices.SortStableFunc(flags, func(a, b sheet.RedFlag) int {
		return b.Severity.Rank() - a.Severity.Rank()
	})
	for _, flag := range flags {
		text := flag.Text.In(w.lang)
		if flag.QuoteJP != "" {
			text += " (「" + flag.QuoteJP + "」)"
		}
		list = append(list, text+".")
	}
	return list
}

func (w *writer) orNot(value *string) string {
	if value == nil {
		return w.text("say", "not_given")
	}
	return *value
}

// odometer writes the mileage with its unit.
func (w *writer) odometer() {
	m := &w.r.Mileage
	switch {
	case m.Value == nil:
		w.say("km_none")
	case m.Unit == nil:
		w.say("no_unit", thousands(*m.Value))
	case *m.Unit == "mile":
		w.say("miles", thousands(*m.Value), thousands(*m.ValueKM))
	default:
		w.say("km", thousands(*m.Value))
	}
	if m.ScaleInferred {
		w.say("scale", thousands(*m.Value), thousands(*m.Thousands))
	}
}

// flagLine writes the mark beside the digits. It writes that there is none only
// with withNone.
func (w *writer) flagLine(withNone bool) {
	switch flag := w.r.Mileage.Flag; {
	case flag == nil:
		w.say("flag_unread")
	case *flag != sheet.NoFlag || withNone:
		w.say("flag_" + string(*flag))
	}
}

func (w *writer) registered() {
	d := &w.r.Dates
	if d.FirstRegistration == nil {
		w.say("first_registration_none")
		return
	}
	w.say("first_registration", *d.FirstRegistration, *d.FirstRegistrationRaw)
}
