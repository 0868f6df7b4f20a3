// Package render writes the report on an auction sheet as text and as a drawing
// of the unfolded car, in English and Kiswahili.
package render

import (
	_ "embed" // the text
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"ushuru/pkg/condition"
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

//go:embed report.tmpl
var reportText string

// reportTemplate has the ten sections by their numbers. It writes nothing itself: its functions add
// lines to a writer.
var reportTemplate = template.Must(template.New("report").Funcs((&writer{}).functions()).Parse(reportText))

// Sections returns the ten sections of Text one by one.
func Sections(r *sheet.Report, lang string, mismatches []sheet.Mismatch) ([]Section, error) {
	if lang != sheet.English && lang != sheet.Swahili {
		return nil, fmt.Errorf("sheet: no language %q; there are %s and %s", lang, sheet.English, sheet.Swahili)
	}
	w := &writer{Report: r, Mismatches: mismatches, Compared: mismatches != nil, lang: lang}
	sentences, err := reportTemplate.Clone()
	if err != nil {
		return nil, fmt.Errorf("sheet: %w", err)
	}
	sentences.Funcs(w.functions())
	sections := make([]Section, 10)
	for i := range sections {
		number := strconv.Itoa(i + 1)
		w.lines = nil
		if err := sentences.ExecuteTemplate(io.Discard, number, w); err != nil {
			return nil, fmt.Errorf("sheet: %w", err)
		}
		if len(w.lines) == 0 {
			w.say("nothing")
		}
		sections[i] = Section{w.text("heading", number), w.lines}
	}
	return sections, nil
}

// writer writes the sentences of one language.
type writer struct {
	*sheet.Report
	Mismatches []sheet.Mismatch
	Compared   bool // with a listing

	lang  string
	lines []string // of the section
}

// functions are those of the template.
func (w *writer) functions() template.FuncMap {
	return template.FuncMap{
		"say": w.say, "line": w.line, "plain": w.plain, "text": w.text, "thousands": w.thousands,
		"name":  func(list string, name any) string { return sheet.NameOf(list, w.plain(name)).In(w.lang) },
		"quote": func(value any) string { return "「" + w.plain(value) + "」" },
		"orNot": func(value *string) any {
			if value == nil {
				return w.text("say", "not_given")
			}
			return value
		},
		"yesOrNo": func(value *bool) string {
			if *value {
				return "_yes"
			}
			return "_no"
		},
		"join":    w.join,
		"place":   func(mark sheet.Mark) string { return placeName(mark.Panel, mark.Side).In(w.lang) },
		"meaning": func(mark sheet.Mark) string { return markMeaning(&mark, w.lang) },
		"finding": w.finding, "items": w.items, "warnings": w.warnings, "notes": w.notes, "evidence": w.evidence,
		"yearly": func() []int { return yearly(w.Report) }, "unreadable": w.unreadable, "machine": w.isMachine,
	}
}

// plain returns a value of the report as text; "" for one that was not read.
func (w *writer) plain(value any) string {
	v := reflect.Indirect(reflect.ValueOf(value))
	if !v.IsValid() {
		return ""
	}
	if text, ok := reflect.TypeAssert[sheet.Text](v); ok {
		return text.In(w.lang)
	}
	return fmt.Sprint(v)
}

func (w *writer) text(list string, key any) string {
	return sheet.TextOf(list, w.plain(key)).In(w.lang)
}

// sentence returns a sentence of the table with its values.
func (w *writer) sentence(key string, values ...any) string {
	texts := make([]any, len(values))
	for i, value := range values {
		texts[i] = w.plain(value)
	}
	return fmt.Sprintf(w.text("say", key), texts...)
}

// say writes a sentence of the table as a line. It returns nothing for the template to write.
func (w *writer) say(key string, values ...any) string { return w.line(w.sentence(key, values...)) }

func (w *writer) line(text string) string {
	if text != "" && 'a' <= text[0] && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	w.lines = append(w.lines, text)
	return ""
}

// thousands formats a number with commas: 45,210.
func (w *writer) thousands(number any) string {
	digits := w.plain(number)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// join returns texts as one.
func (w *writer) join(list []sheet.Text, separator string) string {
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = text.In(w.lang)
	}
	return strings.Join(texts, separator)
}

// warnings returns the red flags with their evidence, the gravest first.
func (w *writer) warnings() (list []string) {
	flags := slices.Clone(w.RedFlags)
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

// finding returns the sentence on a circled word.
func (w *writer) finding(key string, f sheet.Finding) string {
	meaning := w.text("say", "mark_unknown")
	if f.Meaning != nil {
		meaning = f.Meaning.In(w.lang)
	}
	return w.sentence(key, f.JP, meaning)
}

// items returns circled words as one text.
func (w *writer) items(circled []sheet.Finding) string {
	items := make([]string, len(circled))
	for i, item := range circled {
		items[i] = w.finding("item", item)
	}
	return strings.Join(items, "; ")
}

// evidence returns what shows repairs and is no note.
func (w *writer) evidence() []string {
	return slices.DeleteFunc(slices.Clone(w.RepairHistory.Evidence), func(evidence string) bool {
		return slices.ContainsFunc(w.AllNotes(), func(n *sheet.Note) bool { return n.Area == sheet.Repair && n.JP == evidence })
	})
}

// placeName returns the name of a panel with its side: front door, left.
func placeName(panel string, side *string) sheet.Text {
	name := sheet.NameOf("panel", panel)
	if side != nil {
		s := sheet.NameOf("side", *side)
		name = sheet.Text{EN: name.EN + ", " + s.EN, SW: name.SW + ", " + s.SW}
	}
	return name
}

// markMeaning returns what a code means, its size, and whether the legend says so.
func markMeaning(mark *sheet.Mark, lang string) string {
	parts := []string{sheet.TextOf("say", "mark_unknown").In(lang)}
	if mark.Meaning != nil {
		parts[0] = mark.Meaning.In(lang)
	}
	if mark.SizeMeans != nil {
		parts = append(parts, mark.SizeMeans.In(lang))
	}
	text := strings.Join(parts, ", ")
	if mark.FromLegend {
		text += " (" + strings.Replace(sheet.TextOf("say", "mark_legend").In(lang), "%s", *mark.LegendJP, 1) + ")"
	}
	return text
}

// yearly returns the kilometres a year until the auction. It returns none without the day of the
// auction, in the first year of a car, and for a meter that is called false.
func yearly(r *sheet.Report) []int {
	isFalse := func(f sheet.RedFlag) bool { return f.Category == condition.Meter && f.Level.IsGrave() }
	if slices.ContainsFunc(r.RedFlags, isFalse) || r.Mileage.ValueKM == nil || r.Mileage.ScaleInferred ||
		r.AuctionDate == nil || r.Dates.FirstRegistration == nil {
		return nil
	}
	sold, err1 := time.Parse(time.DateOnly, *r.AuctionDate)
	first, err2 := time.Parse("2006-01", *r.Dates.FirstRegistration)
	if err1 != nil || err2 != nil {
		return nil
	}
	months := (sold.Year()-first.Year())*12 + int(sold.Month()) - int(first.Month())
	if months < 12 {
		return nil
	}
	return []int{*r.Mileage.ValueKM * 12 / months / 100 * 100}
}

// signedNote is a note with its author, the key of a text.
type signedNote struct {
	*sheet.Note
	Author string

	w *writer
}

// notes returns the notes on an area, the gravest first.
func (w *writer) notes(area string) (list []signedNote) {
	for _, of := range []struct {
		notes  []sheet.Note
		author string
	}{
		{w.OfficeNotes, "office"},
		{w.InspectorNotes, "inspector"},
		{w.SellerNotes, "seller_notes"},
		{w.SellerPoints, "seller_points"},
	} {
		for i := range of.notes {
			if string(of.notes[i].Area) == area {
				list = append(list, signedNote{&of.notes[i], of.author, w})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b signedNote) int { return b.Severity.Rank() - a.Severity.Rank() })
	return list
}

// Translation returns the translation of the glossary, else the model's, marked as
// such, else a sentence that there is none.
func (n signedNote) Translation() string {
	switch t := n.Note.Translation.In(n.w.lang); t.Source {
	case sheet.FromGlossary:
		return t.Text
	case sheet.FromMachine:
		text := n.w.sentence("machine", t.Text)
		if len(n.Terms) > 0 {
			text = n.w.join(n.Terms, "; ") + "; " + text
		}
		return text
	case sheet.InPart:
		return n.w.sentence("in_part", t.Text)
	case sheet.NoText:
	}
	return n.w.text("say", "no_translation")
}

// isMachine reports whether a machine has translated a note.
func (w *writer) isMachine() bool {
	return slices.ContainsFunc(w.AllNotes(), func(n *sheet.Note) bool {
		return n.Translation.In(w.lang).Source == sheet.FromMachine
	})
}

// unreadable says what could not be read, each thing once.
func (w *writer) unreadable() (lines []string) {
	for _, u := range w.Unreadable {
		values := []any{w.field(u.Field)}
		if u.Reason == sheet.ReadingsDiffer {
			values = append(values, w.readings(u.Readings))
		}
		if line := w.sentence(string(u.Reason), values...); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// field returns the name of a field of the report, else the name of its block.
func (w *writer) field(name string) string {
	if text := w.text("field", name); text != "" {
		return text
	}
	block, _, _ := strings.Cut(name, ".")
	return w.text("field", block)
}

// readings returns the two readings that differ.
func (w *writer) readings(list []string) string {
	shown := make([]string, 0, len(list))
	for _, reading := range list {
		switch reading {
		case sheet.NotReadable, sheet.NotPrinted:
			reading = "?"
		}
		shown = append(shown, "「"+reading+"」")
	}
	if len(shown) < 2 {
		shown = append(shown, w.text("say", "empty_reading"))
	}
	return strings.Join(shown, " / ")
}
