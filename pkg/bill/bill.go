package bill

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"

	"github.com/shopspring/decimal"
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

// shillings matches the currency between a name and its amount.
var shillings = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:tzs|tshs?|shs?|/=)$`)

// currencyBefore matches the currency before the number that it belongs to.
var currencyBefore = regexp.MustCompile(`(?i)(?:\b(?:tzs|tshs?|shs?|usd|us|dollars?|dola)|(?:us)?\$)[.:]?\s*$`)

// trimmed returns a name without what parts it from its amount.
func trimmed(name string) string { return strings.TrimRight(strings.TrimSpace(name), " \t:=-.|/") }

// nameIn returns the name before the last amount of a line, or the whole line without one.
func nameIn(row string) string {
	name := row
	if amount, _ := amountIn(row); amount.isThere {
		name = amount.before
	}
	return trimmed(shillings.ReplaceAllString(trimmed(dollar.ReplaceAllString(name, "")), ""))
}

// FromText returns the lines of a bill as pasted, and the total that it states; each line
// with an amount is a line of the bill.
func FromText(text string) (lines []Line) {
	for row := range strings.SplitSeq(text, "\n") {
		row = strings.TrimSpace(row)
		if row == "" {
			continue
		}
		amount, ok := amountIn(row)
		name := nameIn(row)
		switch {
		case ok && name != "":
			lines = append(lines, Line{Name: name, Amount: strings.TrimPrefix(row, amount.before), Currency: amount.currency})
		// An amount that cannot be read, or a heading that looks like a charge or the total.
		case !ok && (amount.isThere || len(candidates(row)) > 0 || isTotal(name)):
			lines = append(lines, Line{Name: row})
		}
	}
	return lines
}

// maxLine bounds a text of one line that may have the lines of a bill, in bytes.
const maxLine = 2000

// Lines returns a text with each charge on a line of its own, since a field of one line joins
// them, and whether it is a bill: two lines at least have the name of a charge and an amount.
// One line with more than MaxLines sums is none.
func Lines(text string) (lines string, isBill bool) {
	lines = strings.TrimSpace(text)
	if rest, at := lines, len(lines); !strings.Contains(rest, "\n") && len(rest) <= maxLine {
		lines = ""
		for sums := 0; ; sums++ {
			said, from, to, ok := money.LastSaid(rest[:at])
			if !ok && to == 0 {
				break
			}
			if sums == MaxLines { // each takes time, and no line of a bill may be lost
				return text, false
			}
			// A small number is one of the name, VAT 18 %; one that cannot be read ends its line.
			at = from - len(currencyBefore.FindString(rest[:from]))
			if ok && said.Value.LessThan(leastAmount) || !ok && to-from < len("1000") {
				continue
			}
			lines = rest[from:to] + "\n" + strings.TrimSpace(rest[to:]) + " " + lines
			rest = rest[:from]
		}
		lines = rest + lines
	}
	known := 0
	for _, line := range FromText(lines) {
		if line.Amount != "" && len(candidates(line.Name)) > 0 {
			known++
		}
	}
	return lines, known > 1
}

// leastAmount is less than any charge in shillings.
var leastAmount = decimal.New(1, 3)

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

var dollar = regexp.MustCompile(`(?i)\busd\b|\$|\bus dollars?\b|\bdola\b`)

// sumInDollars matches dollars that belong to a number; foreign matches other currencies beside one.
var (
	sumInDollars  = regexp.MustCompile(`(?i)(?:\$|\b(?:usd?|dollars?|dola))[.:]?\s*\d|\d\s*(?:\$|(?:usd?|dollars?|dola)\b)`)
	foreign       = `(?:€|£|\b(?:eur|euros?|gbp|pounds?|pauni|kes|kshs?|ugx|ushs?|rwf|zmw|zar|aed|cny|rmb|yuan|inr)\b)`
	foreignBefore = regexp.MustCompile(`(?i)` + foreign + `[.:]?\s*$`)
	foreignAfter  = regexp.MustCompile(`(?i)^\s*` + foreign)
)

// asked is the last amount of a text.
type asked struct {
	value    decimal.Decimal
	currency string // USD or TZS; "" when the text names none
	before   string // what stands before the number
	isThere  bool   // there is a number, whether it can be read or not
}

// amountIn returns the last amount of a text; false without one that can be read, and for one that
// is neither in shillings nor in dollars.
func amountIn(text string) (amount asked, ok bool) {
	said, from, to, ok := money.LastSaid(text)
	before := text[:from]
	currency := said.Currency
	switch {
	case currency != "" || !dollar.MatchString(text):
	case sumInDollars.MatchString(before): // the dollars are of another sum
		currency = "TZS"
	default:
		currency = "USD"
	}
	ok = ok && currency != "JPY" && !foreignBefore.MatchString(before) && !foreignAfter.MatchString(text[to:])
	return asked{said.Value, currency, before, to > 0}, ok
}
