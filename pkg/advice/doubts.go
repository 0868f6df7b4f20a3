package advice

import (
	"slices"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"ushuru/pkg/condition"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
	"ushuru/pkg/vehicle"
)

// The sources of a doubt.
const (
	fromSheet   = "sheet"
	fromDrawing = "drawing"
	fromGrade   = "grade"
	fromReading = "reading"
	fromListing = "listing"
	fromScore   = "auction_score"
	fromMatch   = "match"
	fromYear    = "year"
)

// The codes of doubts that code elsewhere asks for.
const (
	doubtSold           = "sold"
	doubtMatchUncertain = "match_uncertain"
	doubtMismatch       = "sheet_mismatch"
)

// SheetNotRead is the code of the doubt about a car whose sheet is linked and was not read.
const SheetNotRead = "sheet_not_read"

// Doubts returns all that is grave or not certain about a car: from the sheet, its
// drawing and its grade, from what could not be read, from the listing and its auction
// score, and from the match. It is the only place that makes them. A nil condition
// is that of a car whose sheet nobody has read.
func Doubts(e vehicle.Estimate, c *Condition) []vehicle.Doubt {
	l := &doubtList{}
	l.listing(e)
	l.sheet(e, c)
	l.match(e)
	slices.SortStableFunc(l.list, func(a, b vehicle.Doubt) int { return levelOf(b).Rank() - levelOf(a).Rank() })
	return l.list
}

func levelOf(d vehicle.Doubt) condition.Severity { return condition.Severity(d.Level) }

// isVeto reports whether a doubt forbids a car.
func isVeto(d vehicle.Doubt) bool { return levelOf(d).IsGrave() }

type doubtList struct{ list []vehicle.Doubt }

// add adds a doubt; of two with one code, level and source the first stays.
func (l *doubtList) add(d vehicle.Doubt, level condition.Severity) {
	d.Level = string(level)
	same := func(o vehicle.Doubt) bool { return o.Code == d.Code && o.Level == d.Level && o.Source == d.Source }
	if !slices.ContainsFunc(l.list, same) {
		l.list = append(l.list, d)
	}
}

// say adds a doubt with a text of the table, and its question when there is one.
func (l *doubtList) say(code, source string, level condition.Severity, values message.Values) {
	d := vehicle.Doubt{Code: code, Source: source, Text: message.Say("doubt/"+code, values)}
	if ask := message.Say("ask/"+code, nil); ask.EN != "" {
		d.Ask = &ask
	}
	l.add(d, level)
}

// listing adds what the listing itself says, and its auction score.
func (l *doubtList) listing(e vehicle.Estimate) {
	for _, said := range e.Car.Condition {
		level := condition.Severity(said.Level)
		if level.Rank() < condition.Caution.Rank() {
			continue
		}
		quote := quoted(said.Quote)
		l.add(vehicle.Doubt{
			Code: said.Category, Source: fromListing, Quote: quote, Ask: sheetAsk(said.Category),
			Text: withQuote("doubt/listing", about(said.Category, said.Level), quote),
		}, level)
	}
	if a := e.Car.Auction; a != nil {
		if f, found := condition.OfGrade(a.Score); found {
			quote := quoted(a.Score)
			l.add(vehicle.Doubt{
				Code: string(f.Category), Source: fromScore, Quote: quote, Ask: sheetAsk(string(f.Category)),
				Text: withQuote("doubt/auction_score", gradeText(a.Score), quote),
			}, f.Severity)
		}
	}
	if hasWarning(e, warningSold) {
		l.say(doubtSold, fromListing, condition.Grave, nil)
	}
}

// sheet adds what the sheet says, or that nobody has read one.
func (l *doubtList) sheet(e vehicle.Estimate, c *Condition) {
	if c == nil {
		code := "no_sheet"
		if e.Car.ConditionReportURL != nil {
			code = SheetNotRead
		}
		l.say(code, fromReading, condition.Doubt, nil)
		return
	}
	for _, flag := range c.Flags {
		source := fromSheet
		switch {
		case flag.Panel != "":
			source = fromDrawing
		case strings.HasPrefix(flag.Rule, "grade_"):
			source = fromGrade
		case flag.QuoteJP == "":
			source = fromReading
		}
		quote := quoted(flag.QuoteJP)
		l.add(vehicle.Doubt{
			Code: flag.Rule, Source: source, Quote: quote, Panel: flag.Panel, Ask: sheetAsk(flag.Rule),
			Text: withQuote("doubt/sheet", findingOf(flag.Text), quote),
		}, flag.Level)
	}
	l.unproved(e, c)
	if c.Mismatches > 0 {
		l.say(doubtMismatch, fromSheet, condition.Grave, message.Values{"count": number(c.Mismatches)})
	}
}

// unproved adds what a sheet must say before its car can be our advice.
func (l *doubtList) unproved(e vehicle.Estimate, c *Condition) {
	if f, found := condition.OfGrade(c.OverallGrade); found && !c.has("grade_") {
		l.add(vehicle.Doubt{
			Code: "grade", Source: fromGrade, Quote: quoted(c.OverallGrade), Ask: sheetAsk(sheet.GradeRule(c.OverallGrade)),
			Text: withQuote("doubt/sheet", gradeText(c.OverallGrade), quoted(c.OverallGrade)),
		}, f.Severity)
	}
	if c.OverallGrade == "" && !c.has(sheet.FlagGradeUnread) {
		l.say("no_grade", fromGrade, condition.Doubt, nil)
	}
	if c.Repair == sheet.RepairYes && !c.has(sheet.FlagRepairHistory) {
		l.say(sheet.FlagRepairHistory, fromSheet, condition.Disqualify, nil)
	}
	switch {
	case c.MileageFlag == "" && !c.has(sheet.FlagMarkUnread):
		l.say(sheet.FlagMarkUnread, fromReading, condition.Doubt, nil)
	case isFalse(c.MileageFlag) && !c.saysFalseMeter():
		l.say("mileage_"+c.MileageFlag, fromSheet, condition.Disqualify, nil)
	}
	if e.Car.MileageKM == nil && c.MileageKM == nil && !c.has(sheet.FlagMileageUnread) && !c.has(sheet.FlagScale) {
		l.say("mileage_not_known", fromListing, condition.Doubt, nil)
	}
}

// match adds what is not certain of the entry on the authority's list.
func (l *doubtList) match(e vehicle.Estimate) {
	if least, most, far := taxSpread(e); far {
		values := message.Values{"least": least.String(), "most": most.String()}
		l.say(doubtMatchUncertain, fromMatch, condition.Grave, values)
	}
	if e.Matched.MatchedBy == vehicle.ByAI {
		l.say("match_by_ai", fromMatch, condition.Caution, nil)
	}
	for _, a := range e.Matched.Adjustments {
		if a.Field == "yom" {
			l.say("year_substituted", fromYear, condition.Caution, message.Values{"yom": number(e.Matched.YOM)})
		}
	}
}

// about returns what a category is about, in words.
func about(category, level string) vehicle.Text {
	text := sheet.TextOf("about", category+"."+level)
	if text.EN == "" {
		text = sheet.TextOf("about", category)
	}
	return vehicle.Text{EN: text.EN, SW: text.SW, Draft: true}
}

// findingOf returns what a flag of a sheet has found, without the words that the sheet says it: the
// heading of a doubt has them.
func findingOf(flag sheet.Text) vehicle.Text {
	says := sheet.TextOf("level", string(condition.Disqualify))
	return vehicle.Text{
		EN: strings.TrimPrefix(flag.EN, strings.TrimSuffix(says.EN, "%s")),
		SW: strings.TrimPrefix(flag.SW, strings.TrimSuffix(says.SW, "%s")),
	}
}

// gradeText returns what a grade that is no good one means.
func gradeText(mark string) vehicle.Text {
	text := sheet.GradeText(mark)
	return vehicle.Text{EN: text.EN, SW: text.SW, Draft: true}
}

// sheetAsk returns the question of a red flag; nil without one.
func sheetAsk(rule string) *vehicle.Text {
	if rule == sheet.FlagRepairHistory {
		rule = sheet.FlagRepairGrade
	}
	text := sheet.TextOf("ask", rule)
	if text.EN == "" {
		return nil
	}
	return &vehicle.Text{EN: text.EN, SW: text.SW, Draft: true}
}

// withQuote returns a sentence with what it is about and the quote that proves it.
func withQuote(key string, what vehicle.Text, quote string) vehicle.Text {
	if quote != "" {
		quote = " (「" + quote + "」)"
	}
	return message.SayWith(key, message.Values{"quote": quote}, map[string]vehicle.Text{"what": what})
}

// maxQuote is the most characters of a quote.
const maxQuote = 60

// quoted returns what a stranger wrote as one short line; "" for a text with a link or
// a long number.
func quoted(text string) string {
	text = strings.Join(strings.Fields(strings.NewReplacer("「", " ", "」", " ").Replace(printable(text))), " ")
	digits := 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	const longNumber = 8
	if strings.Contains(text, "://") || strings.Contains(text, "www.") || strings.Contains(text, "@") || digits >= longNumber {
		return ""
	}
	if runes := []rune(text); len(runes) > maxQuote {
		return string(runes[:maxQuote]) + "…"
	}
	return text
}

// printable returns a text with spaces in place of the characters that no reader sees.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
}

// taxSpread returns the least and the most tax of the entries that the car may be,
// and whether they are far apart. Only a match of low confidence has such entries.
func taxSpread(e vehicle.Estimate) (least, most decimal.Decimal, far bool) {
	if e.Matched.Confidence != vehicle.Low {
		return least, most, false
	}
	least = e.Tax.TotalTaxesInTZS.Decimal()
	most = least
	for _, c := range e.Matched.Candidates {
		if c.TotalTaxesInTZS != nil {
			least, most = decimal.Min(least, c.TotalTaxesInTZS.Decimal()), decimal.Max(most, c.TotalTaxesInTZS.Decimal())
		}
	}
	return least, most, least.IsPositive() && most.GreaterThan(least.Mul(scale["tax_spread"]))
}
