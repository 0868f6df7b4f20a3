package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// line is one thing to pay, with its fees over time.
type line struct {
	Code string       `json:"code"`
	Name vehicle.Text `json:"name"`
	// Part is the part of the summary that the line belongs to; empty is portAndLocal.
	Part string `json:"part,omitempty"`
	Port bool   `json:"port,omitempty"` // it is part of the caller's figure for the port
	// PaidIn is the currency in which the line must be paid; empty is not known. What is
	// paid inside Tanzania is paid in shillings (GN 198 of 2025).
	PaidIn string `json:"paid_in,omitempty"`
	Fees   []fee  `json:"fees"`
}

// fee is what is charged in a period of time. An amount of 0 says that nothing is
// charged then.
type fee struct {
	origin

	From   string    `json:"from"`             // first day, 2006-01-02; empty has no beginning
	Until  string    `json:"until"`            // last day; empty has no end
	Only   countries `json:"only,omitempty"`   // countries that it is charged for; none is every one
	Except countries `json:"except,omitempty"` // countries that it is not charged for

	Amount price           `json:"amount"`
	Low    *price          `json:"low"`   // nil is Amount
	High   *price          `json:"high"`  // nil is Amount
	Least  *price          `json:"least"` // nil has no minimum
	VAT    decimal.Decimal `json:"vat"`   // fraction that comes on top
	// VATInHigh is the fraction that comes on top of the upper bound alone, where it is
	// not certain that it is charged.
	VATInHigh decimal.Decimal `json:"vat_in_high"`
	Clamp     *clamp          `json:"clamp"`

	Remark string `json:"remark,omitempty"` // the code of a text of the table of texts, family basis
	Basis  remark `json:"basis,omitzero"`   // an operator's own words, which follow the Remark
}

// price is a value and what it is counted by.
type price struct {
	Value decimal.Decimal `json:"value"`
	Unit  unit            `json:"unit"`
}

// unit is what a price is counted by. A value of USD and TZS is for the car,
// the others are fractions but for that of a cubic metre.
type unit string

const (
	perCarUSD unit = "USD"
	perCarTZS unit = "TZS"
	perM3     unit = "USD/m3"
	ofCF      unit = "C&F"          // the listing's price with freight
	ofCIF     unit = "CIF"          // the value that is taxed
	ofDuty    unit = "import_duty"  // at that value
	ofTaxes   unit = "import_taxes" // likewise, all of them
)

var units = []unit{perCarUSD, perCarTZS, perM3, ofCF, ofCIF, ofDuty, ofTaxes}

func (u unit) isFraction() bool { return u == ofCF || u == ofCIF || u == ofDuty || u == ofTaxes }

// clamp are the least and the most USD of CIF for each cubic metre that a
// fraction of CIF is computed on. Whether they hold is not sure: they widen
// the range only.
type clamp struct {
	Low  decimal.Decimal `json:"low"`
	High decimal.Decimal `json:"high"`
}

// countries are the names of countries in capitals: one name, or a list.
type countries []string

// UnmarshalJSON decodes one name or a list of names.
func (c *countries) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*c = countries{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(c))
}

// has reports whether a country is among them.
func (c countries) has(country string) bool {
	return slices.ContainsFunc(c, func(name string) bool { return strings.EqualFold(name, country) })
}

// remark is what an operator's file says beside an amount: one text for both
// languages, or {"en", "sw"}.
type remark vehicle.Text

// UnmarshalJSON decodes either form.
func (r *remark) UnmarshalJSON(data []byte) error {
	var both string
	if json.Unmarshal(data, &both) == nil {
		*r = remark{EN: both, SW: both}
		return nil
	}
	var text vehicle.Text
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*r = remark(text)
	return nil
}

// isRemark reports whether a code is one of a text for a fee: it needs no values.
func isRemark(code string) bool {
	names, known := message.ValueNames("basis/" + code)
	return known && len(names) == 0
}

// origin says where a figure comes from.
type origin struct {
	Standing vehicle.Standing `json:"standing"`
	Source   string           `json:"source"`
	Date     string           `json:"date"`
}

// ownFigure is the source of a figure of the tables that has none.
const ownFigure = "own"

// line returns a line whose figure is of that origin.
func (o origin) line() vehicle.CostLine {
	return cited(vehicle.CostLine{Standing: o.Standing, Estimated: true, Date: o.Date}, o.Source)
}

func (o origin) check() error {
	switch {
	case !slices.Contains([]vehicle.Standing{vehicle.Official, vehicle.Quoted, vehicle.Typical}, o.Standing):
		return errors.New("standing must be official, quoted or typical")
	case o.Source == "" || o.Date == "":
		return errors.New("source and date are required")
	}
	return nil
}

// inForce returns the fee of a line on a day for a country of origin. It is
// nil when none is charged; gap reports that the table does not cover that day.
func (l line) inForce(day, country string) (f *fee, gap bool) {
	gap = len(l.Fees) > 0
	for i := range l.Fees {
		f := &l.Fees[i]
		if f.From != "" && day < f.From || f.Until != "" && f.Until < day {
			continue
		}
		gap = false
		if (len(f.Only) == 0 || f.Only.has(country)) && !f.Except.has(country) {
			return f, false
		}
	}
	return nil, gap
}

// facts are the quantities that the prices of a table refer to: cubic metres and
// amounts in USD. The rate is the number of shillings per dollar.
type facts struct {
	m3, cf, cif, duty, taxes moneyRange
	rate                     decimal.Decimal
}

// charge returns the exact fee in both currencies.
func (f fee) charge(by facts) both {
	prices := f.prices()
	sum := prices[0].count(by)
	if f.Low != nil || f.High != nil {
		low, high := prices[1].count(by), prices[2].count(by)
		sum.usd = moneyRange{low.usd.low, sum.usd.amount, high.usd.high}
		sum.tzs = moneyRange{low.tzs.low, sum.tzs.amount, high.tzs.high}
	}
	if f.Clamp != nil && by.m3.amount.IsPositive() {
		clamped := f.Clamp.of(by).times(f.Amount.Value)
		sum.usd = moneyRange{decimal.Min(sum.usd.low, clamped.low), sum.usd.amount, decimal.Max(sum.usd.high, clamped.high)}
		sum.tzs = sum.usd.times(by.rate)
	}
	if f.Least != nil {
		least := f.Least.count(by)
		sum = both{sum.usd.atLeast(least.usd.amount), sum.tzs.atLeast(least.tzs.amount)}
	}
	one := decimal.NewFromInt(1)
	if with := one.Add(f.VAT); f.VAT.IsPositive() {
		sum = sum.times(with)
	}
	sum = both{sum.usd.ordered(), sum.tzs.ordered()}
	if with := one.Add(f.VATInHigh); f.VATInHigh.IsPositive() {
		sum.usd.high, sum.tzs.high = sum.usd.high.Mul(with), sum.tzs.high.Mul(with)
	}
	return sum
}

// prices returns the amount, the lower and the upper bound.
func (f fee) prices() [3]price {
	prices := [3]price{f.Amount, f.Amount, f.Amount}
	if f.Low != nil {
		prices[1] = *f.Low
	}
	if f.High != nil {
		prices[2] = *f.High
	}
	return prices
}

// byVolume reports whether the fee is charged by cubic metres.
func (f fee) byVolume() bool {
	prices := f.prices()
	return slices.ContainsFunc(prices[:], func(p price) bool { return p.Unit == perM3 })
}

// count multiplies the price by its quantity. The unit says which currency is
// exact; the other is converted.
func (p price) count(by facts) both {
	var usd moneyRange
	switch p.Unit {
	case perCarTZS:
		tzs := only(p.Value)
		return both{tzs.over(by.rate), tzs}
	case perM3:
		usd = by.m3.times(p.Value)
	case ofCF:
		usd = by.cf.times(p.Value)
	case ofCIF:
		usd = by.cif.times(p.Value)
	case ofDuty:
		usd = by.duty.times(p.Value)
	case ofTaxes:
		usd = by.taxes.times(p.Value)
	case perCarUSD:
		usd = only(p.Value)
	}
	return both{usd, usd.times(by.rate)}
}

// of returns the CIF, limited to the bounds for its volume.
func (c clamp) of(by facts) moneyRange {
	within := func(cif, m3 decimal.Decimal) decimal.Decimal {
		return decimal.Min(decimal.Max(cif, m3.Mul(c.Low)), m3.Mul(c.High))
	}
	return moneyRange{within(by.cif.low, by.m3.low), within(by.cif.amount, by.m3.amount), within(by.cif.high, by.m3.high)}
}

// storage is what a car costs that stays in the port after the free days. All prices
// are in USD for a cubic metre.
type storage struct {
	origin

	FreeDays    int             `json:"free_days"`      // shown, and used
	FreeDaysMax int             `json:"free_days_most"` // by other sources: the lower bound
	PerDay      decimal.Decimal `json:"per_day"`
	Days        int             `json:"days"` // of PerDay
	Later       decimal.Decimal `json:"per_day_later"`
	Removal     decimal.Decimal `json:"removal"` // to another shed, once; not in the lower bound
	VAT         decimal.Decimal `json:"vat"`
}

// of returns the storage of a car for some days in the port, in USD.
func (s storage) of(m3 moneyRange, days int) moneyRange {
	usd := func(m3 decimal.Decimal, free int, removal decimal.Decimal) decimal.Decimal {
		over := max(days-free, 0)
		if over == 0 {
			return decimal.Zero
		}
		first := decimal.NewFromInt(int64(min(over, s.Days))).Mul(s.PerDay)
		later := decimal.NewFromInt(int64(max(over-s.Days, 0))).Mul(s.Later)
		return decimal.Sum(first, later, removal).Mul(m3).Mul(decimal.NewFromInt(1).Add(s.VAT))
	}
	return moneyRange{
		usd(m3.low, s.FreeDaysMax, decimal.Zero), usd(m3.amount, s.FreeDays, s.Removal), usd(m3.high, s.FreeDays, s.Removal),
	}
}

// perDay returns the storage of a car for one of the first days after the free ones,
// in USD.
func (s storage) perDay(m3 decimal.Decimal) decimal.Decimal {
	return s.PerDay.Mul(m3).Mul(decimal.NewFromInt(1).Add(s.VAT))
}

func (s storage) check() error {
	switch {
	case s.FreeDays < 0 || s.FreeDaysMax < s.FreeDays || s.Days < 0:
		return errors.New("storage: it must be 0 ≤ free_days ≤ free_days_most")
	case s.PerDay.IsNegative() || s.Later.LessThan(s.PerDay) || s.Removal.IsNegative():
		return errors.New("storage: it must be 0 ≤ per_day ≤ per_day_later")
	case !fraction(s.VAT):
		return errors.New("storage: vat must be a fraction; example: 0.18")
	}
	if err := s.origin.check(); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

var ownLines = []string{codePrice, codeTaxes, codeHIV, codeRegistration}

var codeForm = regexp.MustCompile(`^[a-z][a-z0-9_]{1,40}$`)

var parts = []string{"", partCar, partTaxes, partPort}

func (l line) check() error {
	var p problems
	p.whenf(!codeForm.MatchString(l.Code), "the code must be lower-case letters, digits and underscores")
	p.whenf(l.Name.EN == "" || l.Name.SW == "", "the name needs en and sw")
	p.whenf(!slices.Contains(parts, l.Part), "the part must be one of %q", parts[1:])
	p.whenf(!slices.Contains([]string{"", "TZS", "USD"}, l.PaidIn), "paid_in must be TZS or USD")
	own := slices.Contains(ownLines, l.Code)
	p.whenf(own && l.Fees != nil, "it comes from the listing or from TRA and takes no fees")
	p.whenf(!own && l.Fees == nil, `it has no fees; write "fees": [] to leave it out`)
	for i, f := range l.Fees {
		p.of(fmt.Sprintf("fee %d", i+1), f.check(l.Code))
	}
	for i, f := range l.Fees {
		for _, later := range l.Fees[i+1:] {
			p.whenf(f.overlaps(later), "fee %d holds on days of another fee", i+1)
		}
	}
	return errors.Join(p...)
}

func (f fee) check(code string) error {
	p := make(problems, 0, 3)
	p = append(p, f.checkDates(), f.checkPrices(code))
	p.whenf(f.Remark != "" && !isRemark(f.Remark), "remark %q is not known; write your own words in basis", f.Remark)
	p.whenf((f.Basis.EN == "") != (f.Basis.SW == ""), "basis needs en and sw, or one text for both")
	p = append(p, f.origin.check())
	p.whenf(len(f.Only) > 0 && len(f.Except) > 0, "only and except exclude each other")
	p.whenf(!fraction(f.VAT) || !fraction(f.VATInHigh), "vat must be a fraction; example: 0.18")
	p.whenf(f.Least != nil && f.Least.Unit != perCarUSD && f.Least.Unit != perCarTZS, "least must be in USD or TZS")
	c := f.Clamp
	p.whenf(c != nil && (f.Amount.Unit != ofCIF || !c.Low.IsPositive() || c.High.LessThan(c.Low)),
		"clamp belongs to an amount in CIF and needs low and high")
	return errors.Join(p...)
}

func (f fee) checkDates() error {
	for _, day := range []string{f.From, f.Until} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return fmt.Errorf("%q is not a date; example: 2026-07-01", day)
		}
	}
	if f.From != "" && f.Until != "" && f.Until < f.From {
		return errors.New("until is before from")
	}
	return nil
}

func (f fee) checkPrices(code string) error {
	prices := f.prices()
	for _, p := range prices {
		if err := p.check(code); err != nil {
			return err
		}
	}
	amount, low, high := prices[0], prices[1], prices[2]
	if low.Unit == amount.Unit && low.Value.GreaterThan(amount.Value) {
		return errors.New("low is above amount")
	}
	if high.Unit == amount.Unit && high.Value.LessThan(amount.Value) {
		return errors.New("high is below amount")
	}
	return nil
}

// maxAmount is more than any single fee, in either currency.
var maxAmount = decimal.New(1, 10)

func (p price) check(code string) error {
	switch {
	case !slices.Contains(units, p.Unit):
		return fmt.Errorf("unknown unit %q; valid: %v", p.Unit, units)
	case p.Value.IsNegative() || p.Value.GreaterThan(maxAmount):
		return fmt.Errorf("%s is not a valid amount", p.Value)
	case p.Unit.isFraction() && !fraction(p.Value):
		return fmt.Errorf("%s of %s is not a fraction; example: 0.016 for 1.6 %%", p.Value, p.Unit)
	case code == codeFreight && p.Unit != perM3 && p.Unit != perCarUSD,
		code == codeInsurance && p.Unit != ofCF && p.Unit != perCarUSD:
		return fmt.Errorf("unit %s cannot be used here: the customs value depends on it", p.Unit)
	}
	return nil
}

func fraction(value decimal.Decimal) bool {
	return !value.IsNegative() && value.LessThanOrEqual(decimal.NewFromInt(1))
}

// overlaps reports whether two fees can both be in force for one car.
func (f fee) overlaps(g fee) bool {
	apart := f.Until != "" && g.From != "" && f.Until < g.From || g.Until != "" && f.From != "" && g.Until < f.From
	return !apart && !f.elsewhere(g) && !g.elsewhere(f)
}

// elsewhere reports whether a fee is charged for none of the countries that another
// is charged for.
func (f fee) elsewhere(g fee) bool {
	return len(f.Only) > 0 && !slices.ContainsFunc(f.Only, func(c string) bool {
		return (len(g.Only) == 0 || g.Only.has(c)) && !g.Except.has(c)
	})
}

func (f fee) countries() string {
	if len(f.Except) > 0 {
		return "not " + strings.Join(f.Except, ", ")
	}
	return strings.Join(f.Only, ", ")
}

// value returns the amount with its bounds in parentheses: 120USD/m3(70..180).
func (f fee) value() string {
	text := f.Amount.text()
	if f.Low != nil || f.High != nil {
		prices := f.prices()
		text += "(" + prices[1].bound(f.Amount) + ".." + prices[2].bound(f.Amount) + ")"
	}
	if f.VAT.IsPositive() {
		text += "+" + f.VAT.Shift(2).String() + "%"
	}
	return text
}

// bound returns a bound of an amount, without the unit when that is the same.
func (p price) bound(of price) string {
	if p.Unit == of.Unit {
		return strings.TrimSuffix(p.text(), string(p.Unit))
	}
	return p.text()
}

func (p price) text() string {
	if p.Unit.isFraction() {
		return p.Value.Shift(2).String() + "%" + string(p.Unit)
	}
	return p.Value.String() + string(p.Unit)
}
