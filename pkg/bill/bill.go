// Package bill checks a clearing agent's bill against what is owed for a car: on the day of
// the bill, each line has its verdict, on what the range rests, and whom to ask.
package bill

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// The verdicts of a line and of a bill.
const (
	Within    = "within"
	Above     = "above"
	Below     = "below"
	Duplicate = "duplicate"
	NotOwed   = "not_owed"
	OwnPrice  = "own_price"
	inDollars = "in_dollars"
	Unknown   = "unknown"
	Ambiguous = "ambiguous"

	Fits    = "fits"
	ask     = "ask"
	tooHigh = "too_high"
)

// MaxLines is how many lines a bill may have.
const MaxLines = 60

// Line is a line of a bill, as the agent wrote it.
type Line struct {
	Name     string
	Amount   string
	Currency string // TZS or USD, unless the amount says another; empty is TZS
}

// Check is what a bill is compared with.
type Check struct {
	Tables   *cost.Tables
	Estimate *vehicle.Estimate // nil: the car is not known
	Terms    vehicle.Terms
	Day      time.Time // of the bill
}

// Answer is what became of a bill. Money is a string with two decimals, without commas.
type Answer struct {
	Object        string           `json:"object"` // bill_check
	Lines         []Judged         `json:"lines"`
	Missing       []Owed           `json:"missing"` // what is not on the bill and will still come
	BilledTZS     string           `json:"billedTZS"`
	StatedTZS     string           `json:"statedTotalTZS,omitempty"`
	SumDiffersTZS string           `json:"sumDiffersTZS,omitempty"`
	QuestionedTZS string           `json:"questionedTZS"`
	Unexplained   string           `json:"unexplainedTZS"`
	Verdict       string           `json:"verdict"`
	Text          vehicle.Sentence `json:"text"` // the one thing to do
	Note          vehicle.Text     `json:"note"` // that a bill cannot be certified
	Car           *vehicle.Car     `json:"car,omitempty"`
	date          string
}

// Judged is a line with its verdict.
type Judged struct {
	Row       int              `json:"row"`
	Name      string           `json:"name"`
	AmountTZS string           `json:"amountTZS,omitempty"`
	Code      string           `json:"code,omitempty"`
	Codes     []string         `json:"codes,omitempty"` // what an ambiguous name can mean
	Verdict   string           `json:"verdict"`
	Also      []string         `json:"also,omitempty"`
	LowTZS    string           `json:"lowTZS,omitempty"`
	LikelyTZS string           `json:"likelyTZS,omitempty"`
	HighTZS   string           `json:"highTZS,omitempty"`
	OverTZS   string           `json:"overTZS,omitempty"`
	Bound     string           `json:"bound,omitempty"`
	Issuer    string           `json:"issuer,omitempty"`
	Pay       string           `json:"pay,omitempty"`
	Text      vehicle.Sentence `json:"text"`
	Sources   []Source         `json:"sources,omitempty"`

	amount, over decimal.Decimal
	of           owed // zero for an amount that was not compared
	isHeading    bool // it is named as the total, and has no number
}

// Source is on what a range rests.
type Source struct {
	Source string `json:"source"`
	Date   string `json:"date"`
}

// Owed is what the bill does not have.
type Owed struct {
	Code    string       `json:"code"`
	Name    vehicle.Text `json:"name"`
	LowTZS  string       `json:"lowTZS"`
	HighTZS string       `json:"highTZS"`
	Text    vehicle.Text `json:"text"`
}

// owed is the range of a charge for the car, in whole shillings.
type owed struct {
	low, likely, high decimal.Decimal
	source            Source
	name              vehicle.Text // of the line of the cost; empty for a part of the taxes
}

// holds reports whether an amount is in the range.
func (o owed) holds(amount decimal.Decimal) bool {
	return !amount.LessThan(o.low) && !amount.GreaterThan(o.high)
}

// Judge compares a bill with what is owed; false when no line has an amount.
func (c Check) Judge(lines []Line) (Answer, bool) {
	j := judge{Check: c, ranges: c.ranges(), rate: c.Terms.Rate}
	if !j.rate.IsPositive() {
		j.rate = cost.DefaultRate
	}
	day := c.Day.In(localtime.Zone).Format(time.DateOnly)
	j.answer = Answer{Object: "bill_check", Lines: []Judged{}, Missing: []Owed{}, date: day}
	if c.Estimate != nil {
		j.answer.Car = &c.Estimate.Car
	}
	for i, line := range lines {
		j.read(i+1, line)
	}
	if !slices.ContainsFunc(j.answer.Lines, func(l Judged) bool { return l.AmountTZS != "" }) {
		return Answer{}, false
	}
	j.settleTaxes()
	j.duplicates()
	for i := range j.answer.Lines {
		j.decide(&j.answer.Lines[i])
	}
	j.missing()
	j.conclude()
	return j.answer, true
}

// judge is a check in the making.
type judge struct {
	Check

	ranges map[string]owed
	rate   decimal.Decimal
	answer Answer
	stated *decimal.Decimal
}

// ranges returns what each charge may be for the car on the day of the bill.
func (c Check) ranges() map[string]owed {
	all := map[string]owed{}
	var e vehicle.Estimate // without a car, for the lines that need none
	if c.Estimate != nil {
		e = *c.Estimate
	}
	if c.Terms.Landing == nil {
		day := c.Day.In(localtime.Zone).Format(time.DateOnly)
		c.Terms.Landing = &vehicle.LandingDays{From: day, To: day}
	}
	on := true
	costs := vehicle.Costs{}
	if c.Terms.Costs != nil {
		costs = *c.Terms.Costs
	}
	for _, comprehensive := range []bool{true, false} { // either insurance may be on the bill
		one := costs
		one.Comprehensive = nil
		if comprehensive {
			one.Comprehensive = &on
		}
		terms := c.Terms
		terms.Costs = &one
		for _, l := range c.Tables.Calculate(e, terms, c.Day).DriveAway.Lines {
			if c.Estimate == nil && !slices.Contains(withoutCar, l.Code) {
				continue
			}
			all[l.Code] = owed{l.LowTZS.Decimal(), l.AmountTZS.Decimal(), l.HighTZS.Decimal(), Source{l.Source, l.Date}, l.Name}
		}
	}
	tra := Source{"TRA " + e.Tax.ReferenceNumber, e.AsOf}
	for _, p := range c.Tables.TaxParts(e, c.Terms, c.Day) {
		all[p.Code] = owed{p.Low, p.High, p.High, tra, vehicle.Text{}}
	}
	var port owed
	for _, code := range portParts {
		if of, ok := all[code]; ok {
			port = owed{port.low.Add(of.low), port.likely.Add(of.likely), port.high.Add(of.high), of.source, vehicle.Text{}}
		}
	}
	if port.high.IsPositive() {
		all["port_charges"] = port
	}
	for code, of := range all { // outward, to whole shillings
		all[code] = owed{of.low.Floor(), of.likely.Round(0), of.high.Ceil(), of.source, of.name}
	}
	return all
}

var (
	portParts = []string{"wharfage", "handling", "corridor_levy", "port_infrastructure", "green_port"}
	taxParts  = []string{"import_duty", "excise_duty", "excise_due_to_age", "vat", "processing_fee", "railway_levy"}
	// sums are charges that hold others.
	sums = map[string][]string{
		"import_taxes": taxParts, "port_charges": portParts,
		"taxes_total": append(slices.Clone(taxParts), "import_taxes", "hiv_levy", "registration"),
	}
	// withoutCar are charges whose range is the same for every car.
	withoutCar = []string{"clearing_agent", "delivery_order", "plate", "third_party_insurance"}
	// repeatable are charges of which a bill may have several lines.
	repeatable = []string{"port_storage", "inland_delivery"}
	// abroad are charges that are not paid inside Tanzania.
	abroad = []string{"freight", "insurance", "inspection"}
)

// read adds a line of the bill, or takes its total.
func (j *judge) read(row int, line Line) {
	of, ok := amountIn(line.Amount)
	inUSD := cmp.Or(of.currency, line.Currency) == "USD"
	amount := of.value
	if inUSD {
		amount = amount.Mul(j.rate)
	}
	amount = amount.Round(0)
	if ok && isTotal(line.Name) {
		j.stated = &amount
		return
	}
	l := Judged{Row: row, Name: line.Name}
	if !ok {
		l.Verdict, l.Text = Unknown, message.SayCoded("bill/no_amount", nil)
		if isTotal(nameIn(line.Name)) {
			inName, _ := amountIn(line.Name)
			l.Text, l.isHeading = message.SayCoded("bill/no_total", nil), !of.isThere && !inName.isThere
		}
		j.answer.Lines = append(j.answer.Lines, l)
		return
	}
	l.amount, l.AmountTZS = amount, tzs(amount)
	l.Codes = candidates(line.Name)
	if len(l.Codes) > 1 {
		l.Codes = j.byAmount(l.Codes, amount)
	}
	if len(l.Codes) == 1 {
		l.Code, l.Codes = l.Codes[0], nil
	}
	if inUSD && !slices.Contains(abroad, l.Code) {
		l.Also = append(l.Also, inDollars)
	}
	j.answer.Lines = append(j.answer.Lines, l)
}

// byAmount returns the only one of several charges whose range an amount fits, or all.
func (j *judge) byAmount(codes []string, amount decimal.Decimal) []string {
	var fit []string
	for _, code := range codes {
		if of, ok := j.ranges[code]; ok && of.holds(amount) {
			fit = append(fit, code)
		}
	}
	if len(fit) == 1 {
		return fit
	}
	return codes
}

// settleTaxes decides whether a sum of the taxes holds levy and registration too.
func (j *judge) settleTaxes() {
	for i := range j.answer.Lines {
		l := &j.answer.Lines[i]
		if l.Code != "import_taxes" {
			continue
		}
		inside := func(code string) bool {
			of, ok := j.ranges[code]
			return ok && of.holds(l.amount)
		}
		if !inside("import_taxes") && (inside("taxes_total") || !j.has("registration")) {
			l.Code = "taxes_total"
		}
	}
}

// duplicates marks what is billed twice: the same charge again, a part beside its sum, and
// the inspection at destination beside another inspection.
func (j *judge) duplicates() {
	seen := map[string]bool{}
	for i := range j.answer.Lines {
		l := &j.answer.Lines[i]
		code := l.Code
		if code == "inspection" && !j.fromJapan() {
			code = "tbs_destination"
		}
		if code == "" || slices.Contains(repeatable, code) {
			continue
		}
		again := seen[code]
		for sum, parts := range sums {
			again = again || slices.Contains(parts, code) && j.has(sum) && sum != code
		}
		if again {
			l.Verdict = Duplicate
		}
		seen[code] = true
	}
}

func (j *judge) has(code string) bool {
	return slices.ContainsFunc(j.answer.Lines, func(l Judged) bool { return l.Code == code })
}

// decide gives a line its verdict and its words.
func (j *judge) decide(l *Judged) {
	switch {
	case l.AmountTZS == "":
		return
	case l.Code == "" && len(l.Codes) > 1:
		l.Verdict, l.Text = Ambiguous, message.SayCoded("bill/ambiguous", nil)
		return
	case l.Code == "":
		l.Codes, l.Verdict, l.Text = nil, Unknown, message.SayCoded("bill/unknown", nil)
		return
	}
	of := chargeOf(l.Code)
	l.Issuer, l.Pay = of.issuer, of.pay
	owed, known := j.ranges[l.Code]
	if l.Code == "clearing_agent" {
		owed, known = j.agent(owed)
	}
	switch {
	case l.Verdict == Duplicate:
		l.over, l.Text = l.amount, message.SayCoded("bill/duplicate", nil)
		l.OverTZS = tzs(l.over)
	case !known && j.whyNotOwed(l.Code) != "":
		l.Verdict, l.over, l.Text = NotOwed, l.amount, message.SayCoded("bill/not_owed."+j.whyNotOwed(l.Code), nil)
		l.OverTZS = tzs(l.over)
	case !known:
		l.Verdict, l.Text = Unknown, message.SayCoded("bill/"+j.whyUnknown(l.Code), nil)
	default:
		l.Bound, l.LowTZS, l.LikelyTZS, l.HighTZS = of.bound, tzs(owed.low), tzs(owed.likely), tzs(owed.high)
		l.Sources, l.of = []Source{owed.source}, owed
		j.compare(l, owed)
	}
}

// agent returns the range of the agent's fee: the minimum is at the lower of the two rates.
func (j *judge) agent(usual owed) (owed, bool) {
	if j.answer.date < agentSince {
		return usual, usual.high.IsPositive()
	}
	rate := j.rate
	if j.Estimate != nil {
		rate = decimal.Min(rate, traRate(j.Estimate.Tax, rate))
	}
	usual.low = leastAgent.Mul(rate).Floor()
	return usual, usual.high.IsPositive()
}

// leastAgent is the statutory minimum of a clearing agent since 20 March 2026, in dollars
// (GN 83 of 2026).
var leastAgent = decimal.NewFromInt(130)

// agentSince is its first day.
const agentSince = "2026-03-20"

// traRate returns the shillings for a dollar of the authority's answer.
func traRate(tax vehicle.Tax, otherwise decimal.Decimal) decimal.Decimal {
	usd := tax.TotalImportTaxesInUSD.Decimal()
	if !usd.IsPositive() {
		return otherwise
	}
	return tax.TotalImportTaxesInTZS.Decimal().Div(usd)
}

// whyNotOwed returns why a charge is not owed; "" when it may be.
func (j *judge) whyNotOwed(code string) string {
	switch {
	case code == "port_infrastructure" && j.answer.date < pidSince:
		return "pid"
	case code == "tbs_destination" && j.fromJapan() && j.inspected():
		return "tbs"
	case code == "penalty" && j.fromJapan() && j.inspected():
		return "penalty"
	}
	return ""
}

// pidSince is the first day on which the port infrastructure charge may be charged.
const pidSince = "2026-07-01"

// whyUnknown returns why nothing can be said of a charge that is recognised.
func (j *judge) whyUnknown(code string) string {
	switch {
	case code == "penalty", code == "tbs_destination" && j.fromJapan():
		return "unknown.certificate"
	case j.Estimate == nil:
		return "unknown.car"
	case code == "port_storage":
		return "unknown.days"
	}
	return "unknown.range"
}

// fromJapan reports whether the car is known to be shipped from Japan.
func (j *judge) fromJapan() bool { return j.Estimate != nil && shippedFrom(j.Estimate) == "JAPAN" }

// shippedFrom returns the country from which a car comes; "" when it is not known.
func shippedFrom(e *vehicle.Estimate) string { return cmp.Or(e.Car.LocatedIn, e.Tax.Country) }

// inspected reports whether the caller says that the car was inspected before shipment.
func (j *judge) inspected() bool { return j.Terms.Costs != nil && j.Terms.Costs.InspectionUSD != nil }

// compare judges an amount by its range.
func (j *judge) compare(l *Judged, of owed) {
	const leastOfLow, hundred = 80, 100 // percent, of what is bound by tariff or authority
	v := message.Values{"low": of.low.String(), "high": of.high.String()}
	firm := l.Bound == boundTariff || l.Bound == boundAuthority
	switch {
	case l.Bound == boundLaw && l.amount.LessThan(of.low),
		firm && l.amount.Mul(decimal.NewFromInt(hundred)).LessThan(of.low.Mul(decimal.NewFromInt(leastOfLow))):
		l.Verdict = Below
	case firm && l.amount.GreaterThan(of.high):
		l.Verdict, l.over = Above, l.amount.Sub(of.high)
		l.OverTZS = tzs(l.over)
	case l.amount.GreaterThan(of.high):
		l.Verdict = OwnPrice
	default:
		l.Verdict = Within
	}
	l.Text = message.SayCoded("bill/"+l.Verdict, v)
}

// missing lists what is not on the bill and will still come.
func (j *judge) missing() {
	if j.Estimate == nil {
		return
	}
	for _, c := range charges {
		of, ok := j.ranges[c.code]
		isSum, optional := sums[c.code] != nil, c.code == "comprehensive_insurance"
		if !ok || !of.high.IsPositive() || slices.Contains(abroad, c.code) || optional || isSum || j.covered(c.code) {
			continue
		}
		v := message.Values{"low": of.low.String(), "high": of.high.String()}
		name := of.name
		if name.EN == "" {
			name = vehicle.Text{EN: c.names[0], SW: c.names[0]}
		}
		owed := Owed{c.code, name, tzs(of.low), tzs(of.high), message.Say("bill_missing/"+c.bound, v)}
		j.answer.Missing = append(j.answer.Missing, owed)
	}
}

// covered reports whether a bill has a charge, or a sum that holds it.
func (j *judge) covered(code string) bool {
	if j.has(code) || code == "third_party_insurance" && j.has("comprehensive_insurance") {
		return true
	}
	for sum, parts := range sums {
		if slices.Contains(parts, code) && j.has(sum) {
			return true
		}
	}
	return slices.ContainsFunc(j.answer.Lines, func(l Judged) bool { return slices.Contains(l.Codes, code) })
}

// conclude sums the bill up.
func (j *judge) conclude() {
	a := &j.answer
	if j.stated != nil { // Total may be a heading too
		a.Lines = slices.DeleteFunc(a.Lines, func(l Judged) bool { return l.isHeading })
	}
	billed, questioned, firm, unexplained := decimal.Zero, decimal.Zero, decimal.Zero, decimal.Zero
	clean := true
	var rows []string
	for _, l := range a.Lines {
		billed, questioned = billed.Add(l.amount), questioned.Add(l.over)
		if chargeOf(l.Code).bound != boundEstimate {
			firm = firm.Add(l.over)
		}
		switch l.Verdict {
		case Unknown, Ambiguous:
			unexplained, clean = unexplained.Add(l.amount), false
		case Above, Below, Duplicate, NotOwed:
			clean = false
			rows = append(rows, decimal.NewFromInt(int64(l.Row)).String())
		}
	}
	a.BilledTZS, a.QuestionedTZS, a.Unexplained = tzs(billed), tzs(questioned), tzs(unexplained)
	if j.stated != nil {
		differs := j.stated.Sub(billed)
		a.StatedTZS = tzs(*j.stated)
		if !differs.IsZero() {
			a.SumDiffersTZS, clean = tzs(differs), false
		}
	}
	const twentieth = 20
	switch {
	case j.Estimate != nil && firm.Mul(decimal.NewFromInt(twentieth)).GreaterThan(billed):
		a.Verdict = tooHigh
	case clean:
		a.Verdict = Fits
	default:
		a.Verdict = ask
	}
	a.Text = a.head(rows)
	a.Note = message.Say("bill_head/note", nil)
}

// head returns the one thing to do.
func (a *Answer) head(rows []string) vehicle.Sentence {
	switch {
	case len(rows) > 0:
		return message.SayCoded("bill_head/lines", message.Values{"rows": strings.Join(rows, ", ")})
	case a.SumDiffersTZS != "":
		return message.SayCoded("bill_head/sum", nil)
	case a.Verdict == Fits:
		return message.SayCoded("bill_head/fits", nil)
	}
	return message.SayCoded("bill_head/unexplained", nil)
}

// tzs returns an amount of money as the answers have it: 450000.00.
func tzs(amount decimal.Decimal) string { return amount.StringFixed(2) }
