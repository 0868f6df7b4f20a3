package cost

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// The lines whose amounts are not in a table but in the estimate.
const (
	codePrice        = "car_price"
	codeTaxes        = "import_taxes"
	codeHIV          = "hiv_levy"
	codeRegistration = "registration"
)

// The lines of costs before the car arrives in Dar es Salaam, which are part of
// its customs value.
const (
	codeFreight   = "freight"
	codeInsurance = "insurance"
	// These two are part of the cost only.
	codeInspection = "inspection"
	codeRadiation  = "radiation_check"
)

// The other lines that the caller decides on.
const (
	codeAgent         = "clearing_agent"
	codePlates        = "plate"
	codeTBS           = "tbs_destination"
	codeThirdParty    = "third_party_insurance"
	codeComprehensive = "comprehensive_insurance"
	codePort          = "port_charges" // all of the port, as one figure of the caller
	codeStorage       = "port_storage"
	codeInland        = "inland_delivery"
	codeBank          = "bank_fee"
	codeOther         = "other_costs"
	codePID           = "port_infrastructure"
)

var ownLines = []string{codePrice, codeTaxes, codeHIV, codeRegistration}

var codeForm = regexp.MustCompile(`^[a-z][a-z0-9_]{1,40}$`)

// problems are what is wrong with tables.
type problems []error

// whenf adds a problem on a condition.
func (p *problems) whenf(is bool, format string, args ...any) {
	if is {
		*p = append(*p, fmt.Errorf(format, args...))
	}
}

// of adds the problem of a part, with its name before it.
func (p *problems) of(part string, err error) { p.whenf(err != nil, "%s: %w", part, err) }

// check returns every problem of the tables.
func (t *Tables) check() error {
	p := make(problems, 0, len(t.lines))
	seen := map[string]bool{}
	for _, l := range t.lines {
		p.of(fmt.Sprintf("line %q", l.Code), l.check())
		p.whenf(seen[l.Code], "line %q is repeated", l.Code)
		seen[l.Code] = true
	}
	_, err := time.Parse(time.DateOnly, t.checked)
	p.whenf(err != nil, "checked: %q is not a date; example: 2026-11-23", t.checked)
	return errors.Join(append(p, t.volumes.check(), t.checkLandings(), t.storage.check())...)
}

// checkLandings returns every problem of the landing times.
func (t *Tables) checkLandings() error {
	var p problems
	for _, l := range t.landings {
		p.whenf(len(l.Countries) == 0, `landings: countries are required; "*" is every other`)
		p.whenf(l.FromDays < 0 || l.ToDays < l.FromDays || l.ToDays > maxLandingDays,
			"landings: %v: it must be 0 ≤ from_days ≤ to_days ≤ %d", l.Countries, maxLandingDays)
		p.of(fmt.Sprintf("landings: %v", l.Countries), l.check())
	}
	p.whenf(t.landingTime("").Source == "", `landings: the country "*" is required for all others`)
	return errors.Join(p...)
}

// maxLandingDays is longer than any voyage.
const maxLandingDays = 365

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

func (u unit) isFraction() bool { return u == ofCF || u == ofCIF || u == ofDuty || u == ofTaxes }

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

func (v volumes) check() error {
	var p problems
	p.whenf(v.Source == "" || v.Date == "", "volumes: source and date are required")
	fallback := false
	for _, b := range v.Bodies {
		isKnown := b.Low.IsPositive() || b.Typical.IsPositive() || b.High.IsPositive()
		isOrdered := !b.Typical.LessThan(b.Low) && !b.High.LessThan(b.Typical) && !b.High.GreaterThan(maxM3)
		p.whenf(isKnown && !b.Low.IsPositive() || !isOrdered,
			"volume of %v: it must be low ≤ typical ≤ high in cubic metres", b.Names)
		fallback = fallback || slices.Contains(b.Names, anyBody)
	}
	p.whenf(!fallback, `volumes: a body "*" is required for all others`)
	return errors.Join(p...)
}

// maxM3 is more than any vehicle takes on a ship, in cubic metres.
var maxM3 = decimal.NewFromInt(300)
