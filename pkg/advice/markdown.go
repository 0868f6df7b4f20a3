package advice

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ushuru/pkg/condition"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Write writes a verdict as Markdown by the template: the advice, the points in
// favour of and against each car, what to keep in mind, and the costs line by line.
// It reads well unrendered too. Every figure in it is in the verdict or in the
// estimates. It contains short quotes of listings and sheets, no links, no images and
// no HTML.
func Write(v vehicle.Verdict, p Pair, lang string) string {
	t := &text{verdict: v, sides: p.sides(), lang: lang}
	t.advice()
	for i := range 2 {
		t.car(i)
	}
	t.notices()
	t.costs()
	return t.String()
}

// text is a recommendation that is being written.
type text struct {
	strings.Builder
	verdict vehicle.Verdict
	sides   [2]side
	lang    string
}

func (t *text) say(key string, values message.Values) string {
	return message.Say(key, values).In(t.lang)
}

// advice writes the heading, and in one paragraph why and what both cars cost.
func (t *text) advice() {
	if n := t.verdict.Winner; n != nil {
		fmt.Fprintf(t, "## %s\n\n", t.say("compare/winner", message.Values{"winner": number(*n), "name": t.sides[*n-1].name()}))
	} else {
		fmt.Fprintf(t, "## %s\n\n", t.say("compare/"+string(t.verdict.Reason), nil))
	}
	fmt.Fprint(t, escape(t.verdict.Text.In(t.lang)))
	if t.verdict.DifferenceTZS != nil {
		fmt.Fprint(t, " ", escape(t.verdict.Criteria[0].Text.In(t.lang)))
	}
	fmt.Fprint(t, "\n\n")
}

// car writes the name of a car and its points.
func (t *text) car(i int) {
	s := t.sides[i]
	points := newArguments(s, t.sides[1-i], &t.verdict)
	fmt.Fprintf(t, "**%s**\n", t.say("compare/car", message.Values{"car": number(s.number), "name": s.name()}))
	for _, side := range []struct {
		key  string
		list []vehicle.Text
	}{{"compare/for", points.For}, {"compare/against", points.Against}} {
		if len(side.list) == 0 && side.key == "compare/against" && s.standing() != known {
			continue
		}
		if len(side.list) == 0 {
			side.list = []vehicle.Text{message.Say("compare/nothing", nil)}
		}
		fmt.Fprintf(t, "- %s %s\n", t.say(side.key, nil), escape(t.join(side.list)))
	}
	if asks := s.asks(); len(asks) > 0 {
		fmt.Fprintf(t, "- %s %s\n", t.say("compare/ask", nil), escape(t.join(asks)))
	}
	fmt.Fprintln(t)
}

// maxAsks is how many questions stand under a car.
const maxAsks = 3

// asks returns what to ask the seller of a car, the gravest first.
func (s side) asks() (list []vehicle.Text) {
	for _, d := range s.doubts {
		isNew := d.Ask != nil && !slices.Contains(list, *d.Ask)
		if isNew && len(list) < maxAsks && levelOf(d).Rank() >= condition.Doubt.Rank() {
			list = append(list, *d.Ask)
		}
	}
	return list
}

// join returns sentences as one text.
func (t *text) join(list []vehicle.Text) string {
	said := make([]string, len(list))
	for i, text := range list {
		said[i] = text.In(t.lang)
	}
	return strings.Join(said, " ")
}

// notices writes what to keep in mind, in one paragraph.
func (t *text) notices() {
	said := []string{t.say("compare/mind", nil)}
	for _, s := range t.sides {
		values := message.Values{"car": number(s.number)}
		for _, code := range []string{warningFirstYear, warningPastedPage} {
			if s.hasWarning(code) {
				said = append(said, t.say("compare/mind_"+code, values))
			}
		}
	}
	if t.sides[0].hasWarning(warningSimulated) || t.sides[1].hasWarning(warningSimulated) {
		said = append(said, t.say("compare/mind_simulated", nil))
	}
	fmt.Fprintf(t, "%s\n\n", strings.Join(said, " "))
}

// costs writes the table of the costs on the road in shillings, with a row for each
// line of either car.
func (t *text) costs() {
	a, b := t.sides[0].estimate.DriveAway, t.sides[1].estimate.DriveAway
	if a == nil || b == nil {
		return
	}
	fmt.Fprintf(t, "| %s | %s | %s |\n|:---|---:|---:|\n", t.say("compare/item", nil),
		t.say("compare/column", message.Values{"car": "1"}), t.say("compare/column", message.Values{"car": "2"}))
	for _, row := range costRows(a, b) {
		fmt.Fprintf(t, "| %s | %s | %s |\n", escape(row.name.In(t.lang)), t.cell(a, row.code), t.cell(b, row.code))
	}
	fmt.Fprintf(t, "| **%s** | %s | %s |\n", t.say("compare/total", nil), t.total(a), t.total(b))
	fmt.Fprintf(t, "| %s | %s | %s |\n", t.say("compare/range", nil), bounds(a), bounds(b))
	fmt.Fprintf(t, "\n%s\n", t.say("compare/rates", message.Values{
		"taxes": a.Exchange.Taxes.String(), "others": a.Exchange.Others.String(),
	}))
}

// cell returns the amount of a line in whole shillings, with a mark when it is an
// estimate, or says that it is not known.
func (t *text) cell(d *vehicle.DriveAway, code string) string {
	i := slices.IndexFunc(d.Lines, func(line vehicle.CostLine) bool { return line.Code == code })
	switch {
	case i >= 0 && d.Lines[i].Estimated:
		return "≈ " + shillings(d.Lines[i].AmountTZS)
	case i >= 0:
		return shillings(d.Lines[i].AmountTZS)
	case slices.ContainsFunc(d.Missing, func(m vehicle.Missing) bool { return m.Code == code }):
		return t.say("word/not_known", nil)
	}
	return "–"
}

func shillings(amount money.Amount) string { return thousands(amount.Decimal()) }

// total returns a sum. An incomplete sum says so.
func (t *text) total(d *vehicle.DriveAway) string {
	if d.Complete {
		return "**" + shillings(d.TotalTZS) + "**"
	}
	return t.say("compare/more_than", message.Values{"amount": shillings(d.TotalTZS)})
}

// bounds returns the least and the most that a complete sum may come to.
func bounds(d *vehicle.DriveAway) string {
	if !d.Complete {
		return "–"
	}
	return shillings(d.LowTZS) + " – " + shillings(d.HighTZS)
}

// row is one row of the table of costs.
type row struct {
	code string
	name vehicle.Text
}

// costRows returns the lines of both cars, in the order of the first car that has
// them, then the missing lines.
func costRows(a, b *vehicle.DriveAway) (rows []row) {
	add := func(code string, name vehicle.Text) {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.code == code }) {
			rows = append(rows, row{code, name})
		}
	}
	for _, d := range []*vehicle.DriveAway{a, b} {
		for _, line := range d.Lines {
			add(line.Code, line.Name)
		}
	}
	for _, d := range []*vehicle.DriveAway{a, b} {
		for _, missing := range d.Missing {
			add(missing.Code, missing.Name)
		}
	}
	return rows
}

// name returns the name that the authority gives the car, with the year of the
// listing, and with the year of the authority when it is another.
func (s side) name() string {
	model, _, _ := strings.Cut(s.estimate.Matched.ModelBody, " - ")
	name := fmt.Sprintf("%s %s %d", s.estimate.Matched.Make, model, s.year())
	if yom := s.estimate.Matched.YOM; yom != s.year() {
		name += fmt.Sprintf(" (TRA: %d)", yom)
	}
	return escape(clip(name))
}

const maxName = 80

// clip returns a name as one short line without control characters.
func clip(name string) string {
	var b strings.Builder
	n := 0
	for _, r := range name {
		if n++; n > maxName {
			break
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escape returns a text as literal Markdown that still reads well unrendered: only
// what starts markup, a link or an address gets a backslash.
func escape(text string) string {
	var b strings.Builder
	runes := []rune(text)
	next := func(i int) rune {
		if i+1 < len(runes) {
			return runes[i+1]
		}
		return ' '
	}
	last := ' '
	for i, r := range runes {
		switch {
		case strings.ContainsRune("\\`*_[]<>|~&#$@{}", r),
			r == ':' && next(i) == '/',
			r == '.' && unicode.IsLetter(last) && unicode.IsLetter(next(i)):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}
