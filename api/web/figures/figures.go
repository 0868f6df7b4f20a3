// Package figures lays out the figures of an estimate for a page: what the number rests on, its parts
// and its bars, what it is by the month of landing, and what to keep in mind. It calculates none.
package figures

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/condition"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Grounds are what a number rests on.
type Grounds struct {
	Site    string // that has the listing; "" for a car that was described
	Price   *vehicle.CostLine
	Listed  string // the asking price as the page has it, in another currency; "" for none
	Sure    string // key of how sure the match is
	Reasons []message.Text
	Taxes   []TaxLine
	Changes []Scenarios
	Landed  *vehicle.IfLandedBy // where no scenario has it; nil for none
}

// TaxLine is a tax as the authority answered, and as it is to be expected.
type TaxLine struct {
	Name                message.Text
	Currency            string
	Authority, Expected money.Amount
}

// Scenarios are the answers to an open question, and who can settle it: nil where that stands
// among what to ask the seller.
type Scenarios struct {
	Answers []vehicle.Scenario
	Settle  *message.Text
}

// GroundsOf returns what the number of an estimate rests on. Sent is as for SureOf.
func GroundsOf(e *vehicle.Estimate, link, sent string) Grounds {
	w := Grounds{Taxes: taxLinesOf(e), Changes: scenariosOf(e)}
	if at, err := url.Parse(link); err == nil {
		w.Site = strings.TrimPrefix(at.Hostname(), "www.")
	}
	for i := range e.DriveAway.Lines {
		if l := &e.DriveAway.Lines[i]; l.Code == "car_price" {
			w.Price = l
		}
	}
	if p := e.Car.AskingPrice; p != nil && e.Car.Currency != "" && e.Car.Currency != "USD" {
		w.Listed = e.Car.Currency + " " + money.Grouped(p.String())
	}
	if s := e.Summary.IfLandedBy; s != nil && s.OnTheRoad != nil && !slices.ContainsFunc(e.DriveAway.Scenarios, isAboutLanding) {
		w.Landed = s
	}
	w.Sure, w.Reasons = SureOf(e.Matched, sent)
	return w
}

// SureOf returns the key of how sure a match is, and why: what was adjusted, and how the entry was
// found where that is no reason of certainty. Sent is the entry that was matched with a page which
// the visitor sent, and that the visitor did not choose; "" for none.
func SureOf(m vehicle.Matched, sent string) (sure string, reasons []message.Text) {
	for _, a := range m.Adjustments {
		if a.Text != nil {
			reasons = append(reasons, *a.Text)
		}
	}
	if m.MatchedBy == vehicle.ByCaller {
		if m.ModelBody == sent {
			return "answer.match_sent", reasons
		}
		return "answer.match_chosen", reasons
	}
	if m.Text != nil && (len(reasons) == 0 || m.MatchedBy != vehicle.ByCode) {
		reasons = slices.Insert(reasons, 0, *m.Text)
	}
	return "answer.match_" + string(m.Confidence), reasons
}

func isAboutLanding(s vehicle.Scenario) bool { return s.Question == "landing" }

// taxLinesOf returns the lines of the authority's answer, and those to expect.
func taxLinesOf(e *vehicle.Estimate) []TaxLine {
	t, own := e.Tax, e.Tax.Computed()
	expected := cmp.Or(e.DriveAway.TaxBase.Recomputed, &own)
	line := func(key, currency string, authority, to money.Amount) TaxLine {
		return TaxLine{Name: message.Say("table/tax_"+key, nil), Currency: currency, Authority: authority, Expected: to}
	}
	lines := []TaxLine{
		line("value", "USD", t.CIFInUSD, e.DriveAway.TaxBase.CIFInUSD),
		line("import", "USD", own.ImportDutyInUSD, expected.ImportDutyInUSD),
		line("excise", "USD", own.ExciseDutyInUSD, expected.ExciseDutyInUSD),
		line("age", "USD", own.ExciseDutyDueToAgeInUSD, expected.ExciseDutyDueToAgeInUSD),
		line("vat", "USD", own.VATInUSD, expected.VATInUSD),
		line("fee", "USD", own.CustomProcessingFeeInUSD, expected.CustomProcessingFeeInUSD),
		line("railway", "USD", own.RailwayDevLevyInUSD, expected.RailwayDevLevyInUSD),
		line("all_import", "USD", own.TotalImportTaxesInUSD, expected.TotalImportTaxesInUSD),
		line("hiv", "TSh", t.HIVRespLevy, t.HIVRespLevy),
		line("registration", "TSh", t.VehicleRegistrationFeeInTZS, t.VehicleRegistrationFeeInTZS),
		line("total", "TSh", own.TotalTaxesInTZS, expected.TotalTaxesInTZS),
	}
	lines[0].Name = message.Say("page/why.value", nil)
	return lines
}

// askedOfSeller are the questions of scenarios that the list of what to ask has too.
var askedOfSeller = []string{"year", "tax_base", "freight"}

// scenariosOf returns the scenarios of an estimate by their questions.
func scenariosOf(e *vehicle.Estimate) (list []Scenarios) {
	question := ""
	for _, s := range e.DriveAway.Scenarios {
		if s.Question != question {
			question = s.Question
			list = append(list, Scenarios{})
			if !slices.Contains(askedOfSeller, question) {
				list[len(list)-1].Settle = &s.Settle
			}
		}
		last := &list[len(list)-1]
		last.Answers = append(last.Answers, s)
	}
	return list
}

// maxMinded is how many doubts and warnings everybody sees beside the gravest.
const maxMinded = 4

// Minded is a doubt or a warning as the page shows it.
type Minded struct {
	Text   message.Text
	Ask    *message.Text // the seller; nil for nothing
	Detail *message.Text
	Style  string // danger, caution or info

	rank int
}

// MindedOf returns the gravest of the doubts and warnings of an estimate, up to four more that
// everybody sees, and those that are folded. What is grave of the car stands before what is of
// the figures. The banner says already that figures are simulated.
func MindedOf(e *vehicle.Estimate, simulated bool) (gravest *Minded, shown, folded []Minded) {
	var all []Minded
	for _, d := range e.Doubts {
		m := Minded{Text: d.Text, Ask: d.Ask, Style: message.Caution, rank: 3}
		switch level := condition.Severity(d.Level); {
		case level.IsGrave():
			m.Style, m.rank = message.Danger, 0
		case level.Rank() >= condition.Doubt.Rank():
			m.rank = 2
		}
		all = append(all, m)
	}
	ranks := map[string]int{message.Danger: 1, message.Caution: 4}
	for _, w := range message.Limit(slices.Clone(e.Warnings)) {
		if w.Code == "simulated" && simulated {
			continue
		}
		m := Minded{Detail: w.Detail, Style: w.Level, rank: 5}
		m.Text = message.Text{EN: w.In(message.English), SW: w.In(message.Swahili)}
		if rank, raised := ranks[w.Level]; raised {
			m.rank = rank
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Minded) int { return cmp.Compare(a.rank, b.rank) })
	for i := range all {
		switch m := all[i]; {
		case m.rank > 4:
			folded = append(folded, m)
		case gravest == nil:
			gravest = &m
		case len(shown) < maxMinded:
			shown = append(shown, m)
		default:
			folded = append(folded, m)
		}
	}
	return gravest, shown, folded
}

// Lines returns the gravest doubt about a car, and that the car is not the advice; none for nil.
func (m *Minded) Lines(lang string) (lines []string) {
	if m == nil {
		return nil
	}
	lines = append(lines, m.Text.In(lang))
	if m.rank == 0 {
		lines = append(lines, message.Say("page/answer.not_advised", nil).In(lang))
	}
	return lines
}

// Part is one of the parts of the cost.
type Part struct {
	Key   string // car, ship, tax or port
	TZS   int64
	Known bool
}

// PartsOf returns the parts of the cost.
func PartsOf(s *vehicle.Summary) []Part {
	known := func(key string, sum *vehicle.Sum) Part {
		if sum == nil {
			return Part{Key: key}
		}
		return Part{key, sum.TZS, true}
	}
	car, ship, tax, port := known("car", s.Car), known("ship", s.Shipping), Part{Key: "tax"}, known("port", s.PortAndLocal)
	if s.Taxes != nil {
		tax = known("tax", &s.Taxes.Sum)
	}
	return slices.DeleteFunc([]Part{car, ship, tax, port}, func(p Part) bool { return p.Known && p.TZS == 0 })
}

// SumOf returns the sum of parts; 0 when one is not known.
func SumOf(parts []Part) (sum int64) {
	for _, p := range parts {
		if !p.Known {
			return 0
		}
		sum += p.TZS
	}
	return sum
}

// Segment is a piece of a bar that is 1000 wide.
type Segment struct {
	Key      string
	X, Width int64
}

// BarWidth is that of a bar, in its own units.
const BarWidth = 1000

// BarOf returns the parts as pieces of a bar whose whole width is a sum; nil when one is
// not known.
func BarOf(parts []Part, whole int64) (bar []Segment) {
	if SumOf(parts) <= 0 || whole <= 0 {
		return nil
	}
	var sum int64
	for _, p := range parts {
		from := sum * BarWidth / whole
		sum += p.TZS
		bar = append(bar, Segment{p.Key, from, sum*BarWidth/whole - from})
	}
	return bar
}

// Scale is where a sum and its range lie on a bar that is 1000 wide.
type Scale struct{ From, Width, Dot int64 }

// ScaleOf returns the range in the middle of the bar, with as much room on both sides as
// a tenth of it.
func ScaleOf(s vehicle.Sum) Scale {
	const margin = BarWidth / 10
	width := s.HighTZS - s.LowTZS
	if width <= 0 {
		return Scale{margin, BarWidth - 2*margin, BarWidth / 2}
	}
	at := margin + (s.TZS-s.LowTZS)*(BarWidth-2*margin)/width
	return Scale{margin, BarWidth - 2*margin, min(max(at, margin), BarWidth-margin)}
}

// Months is the cost by the month of landing, as a drawing and a table.
type Months struct {
	*vehicle.ByMonth

	Columns []Column
	Landing Segment // when the ship should land
	Low     Column  // the first month of the lowest cost
	High    Column  // the first month of the highest
	First   string
	Last    string
	Dearer  bool // a month costs more than the lowest
	Assumed bool // the rules of a month are not known
}

// Column is a month of the drawing.
type Column struct {
	Month, Letter, Class string
	TZS                  int64
	X, Y, Height         int64
	Assumed              bool
}

// The drawing of the months, in its own units.
const (
	slot       = 30 // of a month
	columnFoot = 100
	columnMost = 92
)

// MonthsOf returns the months of a summary; nil when the cost of one is not known.
func MonthsOf(s *vehicle.Summary) *Months {
	if s.ByMonth == nil || len(s.ByMonth.Months) == 0 {
		return nil
	}
	view := &Months{ByMonth: s.ByMonth}
	for i, m := range s.ByMonth.Months {
		at, err := time.ParseInLocation("2006-01", m.Month, localtime.Zone)
		if err != nil || m.OnTheRoad == nil || m.OnTheRoad.TZS <= 0 {
			return nil
		}
		c := Column{
			Month: m.Month, Letter: "JFMAMJJASOND"[at.Month()-1 : at.Month()], TZS: m.OnTheRoad.TZS,
			X: int64(i * slot), Assumed: m.Assumed,
		}
		if i == 0 || c.TZS < view.Low.TZS {
			view.Low = c
		}
		if c.TZS > view.High.TZS {
			view.High = c
		}
		view.Assumed = view.Assumed || c.Assumed
		view.Columns = append(view.Columns, c)
	}
	for i := range view.Columns {
		c := &view.Columns[i]
		c.Height = c.TZS * columnMost / view.High.TZS
		c.Y, c.Class = columnFoot-c.Height, "month"
		if (c.TZS-view.Low.TZS)*100 > view.Low.TZS { // less than a percent is no step
			c.Class, view.Dearer = c.Class+" dear", true
		}
		if c.Assumed {
			c.Class += " guess"
		}
	}
	view.First, view.Last = view.Columns[0].Month, view.Columns[len(view.Columns)-1].Month
	view.Landing = landingIn(view.First, s.Landing)
	return view
}

// landingIn returns where the days of a landing lie among the months from the first on;
// its width is 0 when they do not.
func landingIn(first string, landing vehicle.Landing) Segment {
	start, err := time.ParseInLocation("2006-01", first, localtime.Zone)
	place := func(day string, add int) int64 {
		at, dayErr := time.ParseInLocation(time.DateOnly, day, localtime.Zone)
		if err != nil || dayErr != nil {
			return 0
		}
		at = at.AddDate(0, 0, add)
		month := (at.Year()-start.Year())*12 + int(at.Month()-start.Month())
		days := time.Date(at.Year(), at.Month()+1, 0, 0, 0, 0, 0, localtime.Zone).Day()
		x := int64(month*slot + (at.Day()-1)*slot/days)
		return min(max(x, 0), 12*slot)
	}
	from, to := place(landing.From, 0), place(landing.To, 1)
	return Segment{Key: "landing", X: from, Width: max(to-from, 0)}
}
