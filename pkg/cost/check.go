package cost

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/vehicle"
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
	// codeInspection is part of the cost only.
	codeInspection = "inspection"
)

var ownLines = []string{codePrice, codeTaxes, codeHIV, codeRegistration}

var codeForm = regexp.MustCompile(`^[a-z][a-z0-9_]{1,40}$`)

// check returns every problem of the tables.
func (t *Tables) check() error {
	var problems []error
	seen := map[string]bool{}
	for _, l := range t.lines {
		if err := l.check(); err != nil {
			problems = append(problems, fmt.Errorf("line %q: %w", l.Code, err))
		}
		if seen[l.Code] {
			problems = append(problems, fmt.Errorf("line %q is repeated", l.Code))
		}
		seen[l.Code] = true
	}
	return errors.Join(append(problems, t.volumes.check())...)
}

func (l line) check() error {
	var problems []error
	if !codeForm.MatchString(l.Code) {
		problems = append(problems, errors.New("the code must be lower-case letters, digits and underscores"))
	}
	if l.Name.EN == "" || l.Name.SW == "" {
		problems = append(problems, errors.New("the name needs en and sw"))
	}
	own := slices.Contains(ownLines, l.Code)
	if own && l.Fees != nil {
		problems = append(problems, errors.New("it comes from the listing or from TRA and takes no fees"))
	}
	if !own && l.Fees == nil {
		problems = append(problems, errors.New(`it has no fees; write "fees": [] to leave it out`))
	}
	for i, f := range l.Fees {
		if err := f.check(l.Code); err != nil {
			problems = append(problems, fmt.Errorf("fee %d: %w", i+1, err))
		}
	}
	for i, f := range l.Fees {
		for _, later := range l.Fees[i+1:] {
			if f.overlaps(later) {
				problems = append(problems, fmt.Errorf("fee %d holds on days of another fee", i+1))
			}
		}
	}
	return errors.Join(problems...)
}

func (f fee) check(code string) error {
	var problems []error
	problems = append(problems, f.checkDates(), f.checkPrices(code))
	if f.Only != "" && f.Except != "" {
		problems = append(problems, errors.New("only and except exclude each other"))
	}
	if !fraction(f.VAT) {
		problems = append(problems, errors.New("vat must be a fraction; example: 0.18"))
	}
	if c := f.Clamp; c != nil && (f.Amount.Unit != ofCIF || !c.Low.IsPositive() || c.High.LessThan(c.Low)) {
		problems = append(problems, errors.New("clamp belongs to an amount in CIF and needs low and high"))
	}
	switch f.Standing {
	case vehicle.Official, vehicle.Quoted, vehicle.Typical:
	default:
		problems = append(problems, errors.New("standing must be official, quoted or typical"))
	}
	if f.Source == "" || f.Date == "" {
		problems = append(problems, errors.New("source and date are required"))
	}
	return errors.Join(problems...)
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
	elsewhere := f.Only != "" && g.Except == f.Only || g.Only != "" && f.Except == g.Only ||
		f.Only != "" && g.Only != "" && f.Only != g.Only
	return !apart && !elsewhere
}

func (v volumes) check() error {
	var problems []error
	if v.Source == "" || v.Date == "" {
		problems = append(problems, errors.New("volumes: source and date are required"))
	}
	fallback := false
	for _, b := range v.Bodies {
		if !b.Low.IsPositive() || b.Typical.LessThan(b.Low) || b.High.LessThan(b.Typical) || b.High.GreaterThan(maxM3) {
			problems = append(problems, fmt.Errorf("volume of %v: it must be low ≤ typical ≤ high in cubic metres", b.Names))
		}
		fallback = fallback || slices.Contains(b.Names, anyBody)
	}
	if !fallback {
		problems = append(problems, errors.New(`volumes: a body "*" is required for all others`))
	}
	return errors.Join(problems...)
}

// maxM3 is more than any vehicle takes on a ship, in cubic metres.
var maxM3 = decimal.NewFromInt(300)
