package advice

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Write writes a verdict as Markdown by the template: the advice, the points in
// favour of and against each car, the costs, and what to keep in mind. Every number
// in it is in the verdict or in the estimates. It contains no text of a listing, no
// links, no images and no HTML.
func Write(v vehicle.Verdict, p Pair, lang string) string {
	t := newText(v, p, lang)
	t.advice()
	for i := range 2 {
		t.car(i)
	}
	t.costs()
	t.notices()
	return t.String()
}

// text is a recommendation that is being written.
type text struct {
	strings.Builder
	verdict vehicle.Verdict
	sides   [2]side
	lang    string
	names   map[string]string // common to both cars
}

func newText(v vehicle.Verdict, p Pair, lang string) *text {
	return &text{verdict: v, sides: p.sides(), lang: lang, names: map[string]string{
		"score1": number(v.Score1), "score2": number(v.Score2),
		"diffUSD": dollars(v.DifferenceUSD), "diffTZS": tzs(v.DifferenceTZS),
	}}
}

// line writes a phrase with a Markdown prefix.
func (t *text) line(prefix, code string, with map[string]string) {
	fmt.Fprintf(t, "%s%s\n", prefix, t.say(code, with))
}

func (t *text) say(code string, with map[string]string) string {
	all := maps.Clone(t.names)
	maps.Copy(all, with)
	return say(t.lang, code, all)
}

// advice writes the first section: the winner, or why there is none.
func (t *text) advice() {
	if n := t.winner(); n > 0 {
		t.line("## ", "winner", map[string]string{"n": number(n), "name": t.sides[n-1].name()})
		fmt.Fprintln(t)
		won, lost := t.verdict.Score1, t.verdict.Score2
		if n == 2 {
			won, lost = lost, won
		}
		t.line("", "scores", map[string]string{"won": number(won), "lost": number(lost)})
	} else {
		t.line("## ", "no_winner", nil)
		fmt.Fprintln(t)
		t.line("", t.verdict.Why, nil)
	}
	if a, b := t.sides[0].estimate.DriveAway, t.sides[1].estimate.DriveAway; t.verdict.DifferenceTZS != nil {
		fmt.Fprintln(t)
		t.line("", "totals", map[string]string{
			"usd1": dollars(&a.TotalUSD), "tzs1": tzs(&a.TotalTZS), "usd2": dollars(&b.TotalUSD), "tzs2": tzs(&b.TotalTZS),
		})
	}
	fmt.Fprintln(t)
}

func (t *text) winner() int { return map[string]int{Car1: 1, Car2: 2}[t.verdict.Winner] }

// points returns the codes of the points of a car, with their signs.
func (t *text) points(i int) []string {
	if i == 0 {
		return t.verdict.Points1
	}
	return t.verdict.Points2
}

// car writes the section of one car.
func (t *text) car(i int) {
	s, other := t.sides[i], t.sides[1-i]
	t.line("### ", "named", map[string]string{"n": number(i + 1), "name": s.name()})
	with := figures(s, other)
	for _, sign := range []struct{ prefix, heading string }{{"+", "for"}, {"-", "against"}} {
		isOther := func(code string) bool { return !strings.HasPrefix(code, sign.prefix) }
		signed := slices.DeleteFunc(slices.Clone(t.points(i)), isOther)
		fmt.Fprintf(t, "\n**%s**\n\n", t.say(sign.heading, nil))
		if len(signed) == 0 {
			t.line("- ", "nothing_for", nil)
		}
		for _, code := range signed {
			t.line("- ", code, with)
		}
	}
	fmt.Fprintln(t)
}

// figures returns the values that the points of a car can name.
func figures(s, other side) map[string]string {
	with := map[string]string{}
	if s.condition != nil {
		with["mark"] = escape(s.condition.OverallGrade)
		with["high"] = number(s.condition.High)
		with["mismatches"] = number(s.condition.Mismatches)
	}
	if other.condition != nil {
		with["otherMark"] = escape(other.condition.OverallGrade)
	}
	if km, known := s.mileage(); known {
		with["km"] = kilometres(km, true)
	}
	if km, known := other.mileage(); known {
		with["otherKM"] = kilometres(km, true)
	}
	return with
}

// costs writes the table of the drive-away costs, with a row for each line of
// either car.
func (t *text) costs() {
	a, b := t.sides[0].estimate.DriveAway, t.sides[1].estimate.DriveAway
	if a == nil || b == nil {
		return
	}
	t.line("### ", "costs", nil)
	fmt.Fprintf(t, "\n| %s | %s | %s |\n|:---|---:|---:|\n", t.say("item", nil),
		t.say("car", map[string]string{"n": "1"}), t.say("car", map[string]string{"n": "2"}))
	for _, row := range costRows(a, b) {
		fmt.Fprintf(t, "| %s | %s | %s |\n", escape(t.of(row.name)), t.cell(a, row.code), t.cell(b, row.code))
	}
	for _, total := range []struct {
		code, currency string
		a, b           money.Amount
	}{
		{"total", "USD", a.TotalUSD, b.TotalUSD},
		{"total", "TSh", a.TotalTZS, b.TotalTZS},
		{"least", "TSh", a.LowTZS, b.LowTZS},
		{"most", "TSh", a.HighTZS, b.HighTZS},
	} {
		fmt.Fprintf(t, "| **%s** (%s) | %s | %s |\n", t.say(total.code, nil), total.currency,
			t.total(a, total.code, total.a), t.total(b, total.code, total.b))
	}
	fmt.Fprintln(t)
	t.line("", "rates", map[string]string{"taxes": a.Exchange.Taxes.String(), "others": a.Exchange.Others.String()})
	fmt.Fprintln(t)
}

// of returns a name in the language of the text.
func (t *text) of(name vehicle.Text) string {
	if t.lang == Swahili {
		return name.SW
	}
	return name.EN
}

// cell returns the amount of a line in both currencies, or says that it is not
// known.
func (t *text) cell(d *vehicle.DriveAway, code string) string {
	i := slices.IndexFunc(d.Lines, func(line vehicle.CostLine) bool { return line.Code == code })
	if i < 0 {
		if slices.ContainsFunc(d.Missing, func(m vehicle.Missing) bool { return m.Code == code }) {
			return t.say("not_known", nil)
		}
		return "–"
	}
	line := d.Lines[i]
	cell := fmt.Sprintf("USD %s / TSh %s", line.AmountUSD, line.AmountTZS)
	if line.Estimated {
		cell += " (" + t.say("estimated", nil) + ")"
	}
	return cell
}

// total returns a sum. An incomplete sum says so, and has no bounds.
func (t *text) total(d *vehicle.DriveAway, code string, sum money.Amount) string {
	switch {
	case d.Complete:
		return "**" + sum.String() + "**"
	case code == "total":
		return t.say("more_than", map[string]string{"amount": sum.String()})
	}
	return "–"
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

// notices writes what to keep in mind.
func (t *text) notices() {
	t.line("### ", "mind", nil)
	fmt.Fprintln(t)
	t.line("- ", "mind_estimate", nil)
	var uncompared []string
	for _, c := range t.verdict.Criteria {
		if !c.Compared {
			uncompared = append(uncompared, t.say(c.Code, nil))
		}
	}
	if len(uncompared) > 0 {
		t.line("- ", "mind_uncompared", map[string]string{"what": strings.Join(uncompared, ", ")})
	}
	for i, s := range t.sides {
		with := map[string]string{"n": number(i + 1)}
		if s.hasWarning(warningSold) {
			t.line("- ", "mind_sold", with)
		}
		if s.hasWarning(warningFirstYear) {
			t.line("- ", "mind_year", with)
		}
		if s.hasWarning(warningPastedPage) {
			t.line("- ", "mind_pasted", with)
		}
	}
	if t.sides[0].hasWarning(warningSimulated) || t.sides[1].hasWarning(warningSimulated) {
		t.line("- ", "mind_simulated", nil)
	}
}

// name returns the name that the authority gives the car, with its year.
func (s side) name() string {
	model, _, _ := strings.Cut(s.estimate.Matched.ModelBody, " - ")
	return escape(fmt.Sprintf("%s %s %d", s.estimate.Matched.Make, model, s.estimate.Matched.YOM))
}

func dollars(amount *money.Amount) string { return currency("USD", amount) }

func tzs(amount *money.Amount) string { return currency("TSh", amount) }

func currency(code string, amount *money.Amount) string {
	if amount == nil {
		return ""
	}
	return code + " " + amount.String()
}

// fill replaces {names} by values.
func fill(text string, with map[string]string) string {
	pairs := make([]string, 0, 2*len(with))
	for name, value := range with {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

const maxName = 80

// escape returns a text as one line of literal Markdown: control characters become
// spaces, and a backslash precedes each ASCII character that has a meaning in
// Markdown. A dot has one only after a letter, as in a URL.
func escape(text string) string {
	var b strings.Builder
	n, last := 0, ' '
	for _, r := range text {
		if n++; n > maxName {
			break
		}
		switch {
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			r = ' '
		case strings.ContainsRune("\\`*_{}[]<>()#+!|~&\"'$^=:@/", r), r == '.' && unicode.IsLetter(last):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}
