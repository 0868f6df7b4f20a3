package sheet

import (
	"fmt"
	"slices"
	"strings"

	"ushuru/pkg/condition"
)

// The values of RedFlag.Rule. What a note or the drawing says has its category as
// rule instead: accident, frame, flood and the others of condition.Categories.
const (
	FlagRepairGrade    = "grade_repair"
	FlagDisasterGrade  = "grade_disaster"
	FlagWreckGrade     = "grade_wreck"
	FlagNotGraded      = "grade_not_graded"
	FlagPoorGrade      = "grade_poor"
	FlagGradeUnread    = "grade_unread"
	FlagRepairHistory  = "repair_history"
	FlagMeterReplaced  = "mileage_replaced"
	FlagMeterTampered  = "mileage_tampered"
	FlagMeterUnknown   = "mileage_unknown"
	FlagMarkUnread     = "mileage_mark_unread"
	FlagMileageUnread  = "mileage_unread"
	FlagUse            = "commercial_use"
	FlagColourChanged  = "colour_changed"
	FlagScale          = "mileage_scale"
	FlagUnreadable     = "sheet_unreadable_in_part"
	FlagNotesNotRead   = "notes_not_read"
	FlagReadingsDiffer = "readings_differ"
	FlagUnknownNote    = "unknown_note"
	FlagPanelsReplaced = "panels_replaced"
	FlagWithoutQuote   = "said_without_quote"
)

// FindRedFlags returns what the buyer should know before paying, with its evidence,
// and what is not certain: the doubts of the sheet.
func FindRedFlags(r *Report) []RedFlag {
	l := &flagList{[]RedFlag{}}
	l.grades(r)
	l.mileage(r)
	l.car(r)
	l.notes(r)
	l.said(r)
	l.bodyMap(r)
	l.unread(r)
	return l.flags
}

// GradeText returns what an overall grade means, in the words of report, flags and
// advice alike.
func GradeText(mark string) Text {
	group := condition.GroupOf(mark)
	if group == condition.Graded || group == condition.DisasterGrade {
		return TextOf("grade", mark)
	}
	return TextOf("grade", string(group))
}

// flagList collects red flags, each once.
type flagList struct{ flags []RedFlag }

// add adds a flag with its own text.
func (l *flagList) add(rule string, category condition.Category, level condition.Severity, quote string) {
	l.append(RedFlag{
		Rule: rule, Category: category, Level: level, QuoteJP: quote, Text: TextOf("flag", rule), Severity: severityOf(level),
	})
}

// say adds what a note or the drawing says of the condition.
func (l *flagList) say(f condition.Finding, quote, panel string) {
	if f.Severity.Rank() < condition.Caution.Rank() {
		return
	}
	l.append(RedFlag{
		Rule: string(f.Category), Category: f.Category, Level: f.Severity, QuoteJP: quote, Panel: panel,
		Text: sayOf(f), Severity: severityOf(f.Severity),
	})
}

// sayOf returns the sentence on a finding.
func sayOf(f condition.Finding) Text {
	about := TextOf("about", string(f.Category)+"."+string(f.Severity))
	if about.EN == "" {
		about = TextOf("about", string(f.Category))
	}
	form := TextOf("level", string(f.Severity))
	return Text{EN: fmt.Sprintf(form.EN, about.EN), SW: fmt.Sprintf(form.SW, about.SW)}
}

// append adds a flag unless one says the same already; of two of one rule and
// level the first stays.
func (l *flagList) append(flag RedFlag) {
	same := func(f RedFlag) bool { return f.Rule == flag.Rule && f.Level == flag.Level }
	if !slices.ContainsFunc(l.flags, same) {
		l.flags = append(l.flags, flag)
	}
}

// severityOf returns the severity of a flag: doubt is never that of a grave fault.
func severityOf(level condition.Severity) Severity {
	switch {
	case level.IsGrave():
		return High
	case level.Rank() >= condition.Caution.Rank():
		return Medium
	case level == condition.Minor:
		return Low
	}
	return Info
}

// GradeRule returns the rule of a grade that is no good one.
func GradeRule(mark string) string {
	return map[condition.GradeGroup]string{
		condition.RepairGrade: FlagRepairGrade, condition.DisasterGrade: FlagDisasterGrade,
		condition.WreckGrade: FlagWreckGrade, condition.NotGraded: FlagNotGraded, condition.Graded: FlagPoorGrade,
	}[condition.GroupOf(mark)]
}

func (l *flagList) grades(r *Report) {
	if r.Grades.OverallRaw != nil {
		mark := *r.Grades.OverallRaw
		if f, found := condition.OfGrade(mark); found {
			l.append(RedFlag{
				Rule: GradeRule(mark), Category: f.Category, Level: f.Severity, QuoteJP: f.Quote, Text: GradeText(mark),
				Severity: severityOf(f.Severity),
			})
		}
	}
	if r.RepairHistory.Status == RepairYes {
		l.add(FlagRepairHistory, condition.Accident, condition.Disqualify, firstOf(r.RepairHistory.Evidence))
	}
	if c := r.House.Corner; c != nil {
		l.text(*c)
	}
}

func (l *flagList) mileage(r *Report) {
	m := &r.Mileage
	switch {
	case m.Flag == nil:
		l.add(FlagMarkUnread, condition.Meter, condition.Doubt, "")
	case *m.Flag == Replaced:
		l.add(FlagMeterReplaced, condition.Meter, condition.Caution, deref(m.FlagText))
	case *m.Flag == Tampered:
		l.add(FlagMeterTampered, condition.Meter, condition.Disqualify, deref(m.FlagText))
	case *m.Flag == Unknown:
		l.add(FlagMeterUnknown, condition.Meter, condition.Disqualify, deref(m.FlagText))
	}
	if m.ScaleInferred {
		l.add(FlagScale, condition.Meter, condition.Doubt, *m.RawDigits)
	}
	if m.Value == nil {
		l.add(FlagMileageUnread, condition.Meter, condition.Doubt, "")
	}
}

func (l *flagList) car(r *Report) {
	if u := r.Vehicle.UseHistory; u != nil && (*u == "rental" || *u == "hire" || *u == "driving_school") {
		l.add(FlagUse, "history", condition.Caution, *r.Vehicle.UseHistoryRaw)
	}
	if r.Vehicle.ColourChanged {
		l.add(FlagColourChanged, "exterior", condition.Caution, *r.Vehicle.ColourJP)
	}
}

// notes judges every note. A note of the inspector or the office with a word that no
// table knows is a doubt, since the word may say anything; so is a fault that the seller
// admits and no table knows.
func (l *flagList) notes(r *Report) {
	for _, note := range r.AllNotes() {
		l.text(note.JP)
	}
	for _, note := range slices.Concat(r.InspectorNotes, r.OfficeNotes) {
		if note.isUnclear() {
			l.add(FlagUnknownNote, condition.NoCategory, condition.Doubt, note.JP)
		}
	}
	for _, note := range r.SellerNotes {
		if note.isUnclear() && note.Kind == Defect && note.Severity == NotKnown {
			l.add(FlagUnknownNote, condition.NoCategory, condition.Doubt, note.JP)
		}
	}
}

// isUnclear reports whether a note has words that neither our tables nor our glossary know
// and says nothing grave.
func (n *Note) isUnclear() bool {
	said := condition.Read(n.JP)
	return len(said.Unread) > 0 && !said.Severity().IsGrave() && n.Translation.EN.Source != FromGlossary
}

func (l *flagList) text(jp string) {
	for _, f := range condition.Read(jp).Findings {
		l.say(f, jp, "")
	}
}

// bodyMap judges the marks of the drawing: they count like the words.
func (l *flagList) bodyMap(r *Report) {
	replaced := []string{}
	for _, mark := range r.BodyMap {
		f := mark.Says()
		quote := mark.CodeRaw
		l.say(f, quote, mark.Panel)
		if f.Category == "exterior" && f.Severity == condition.Caution {
			replaced = append(replaced, quote)
		}
	}
	if len(replaced) > 1 && !slices.ContainsFunc(r.AllNotes(), func(n *Note) bool { return strings.Contains(n.JP, "交換") }) {
		l.add(FlagPanelsReplaced, condition.Accident, condition.Doubt, strings.Join(replaced, ", "))
	}
}

// Says returns what a mark says of the condition.
func (m *Mark) Says() condition.Finding {
	size := 0
	if m.SizeRaw != nil {
		size = *m.SizeRaw
	}
	return condition.OfMark(condition.Mark{
		Panel: m.Panel, Letters: strings.TrimRight(m.CodeRaw, "0123456789"), Size: size, Legend: deref(m.LegendJP),
	})
}

// decisive are the areas of a sheet without which its condition is not known.
var decisive = []string{
	"grades", "mileage", "seller_notes", "inspector_notes", "office_notes", "body_map", "upper_half", "lower_half", "left_half",
	"right_half", "other",
}

// unread adds what is on the sheet and was not read.
func (l *flagList) unread(r *Report) {
	if r.Readability.Overall != Full {
		level := condition.Caution
		areas := r.Readability.UnreadableAreas
		if len(areas) == 0 || slices.ContainsFunc(areas, func(area string) bool { return slices.Contains(decisive, area) }) {
			level = condition.Doubt
		}
		l.add(FlagUnreadable, condition.NoCategory, level, "")
	}
	if r.DroppedTexts > 0 {
		l.add(FlagNotesNotRead, condition.NoCategory, condition.Doubt, "")
	}
	for _, u := range r.Unreadable {
		block, _, _ := strings.Cut(u.Field, ".")
		isDecisive := slices.Contains([]string{"grades", "mileage", "repair_history"}, block)
		switch {
		case block == "notes" || block == "body_map":
			l.add(FlagNotesNotRead, condition.NoCategory, condition.Doubt, "")
		case u.Field == "grades.overall_raw" && u.Reason != ReadingsDiffer:
			l.add(FlagGradeUnread, condition.NoCategory, condition.Doubt, strings.Join(u.Readings, " / "))
		case (u.Reason == ReadingsDiffer || u.Reason == Contradicts) && isDecisive:
			l.add(FlagReadingsDiffer, condition.NoCategory, condition.Doubt, strings.Join(u.Readings, " / "))
		case u.Reason == ReadingsDiffer || u.Reason == Contradicts:
			l.add(FlagReadingsDiffer, condition.NoCategory, condition.Caution, strings.Join(u.Readings, " / "))
		}
	}
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

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

// QuestionsFor returns what the buyer should ask before paying: the questions of
// the red flags, and those that sheets leave open.
func QuestionsFor(r *Report) []Ask {
	list := []Ask{}
	ask := func(about string) {
		if !slices.ContainsFunc(list, func(ask Ask) bool { return ask.About == about }) {
			list = append(list, Ask{about, TextOf("ask", about)})
		}
	}
	for _, flag := range r.RedFlags {
		switch flag.Rule {
		case FlagRepairHistory:
			ask(FlagRepairGrade) // one question for both
		case FlagPoorGrade:
		default:
			ask(flag.Rule)
		}
	}
	if r.RepairHistory.Status == RepairNotStated {
		ask("repair_not_stated")
	}
	if book := r.Documents.ServiceBook; book == nil || !*book {
		ask("service_record")
	}
	if r.Vehicle.ImportChannel != nil || r.Dates.FirstRegistration != nil {
		ask("manufacture")
	}
	ask("engine")
	return list
}
