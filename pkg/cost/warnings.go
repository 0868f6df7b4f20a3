package cost

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The stable codes of the warnings of this package.
const (
	WarnAboveAuthority = "price_above_authority_value" // the taxes are computed on the listing's price
	WarnUndecided      = "tax_base_undecided"          // freight and insurance decide which value is taxed
	WarnNoPrice        = "price_missing"               // the totals exclude the car itself
	WarnAgeStep        = "age_step"                    // the taxes rise when the car lands next year
	WarnAgeDisputed    = "age_disputed"                // sources disagree about the excise duty at this age
	WarnExchange       = "exchange_rate_odd"           // the authority's totals imply no plausible rate
	WarnFreightInPrice = "freight_in_price"            // the caller's freight is not used beside a price with freight
	WarnValueChanges   = "value_may_change"            // the authority revises its values before the landing
	WarnPortCharge     = "port_charge_unconfirmed"     // sources disagree about the port infrastructure charge
	WarnImplausible    = "price_implausible"           // the price is hardly that of the car: its unit may be wrong
	WarnRulesUnknown   = "rules_not_known_for_then"    // the car may land after the last day whose rules are known
	WarnRatesApart     = "rates_apart"                 // the exchange rates of the taxes and of the rest differ much
	WarnFreightOdd     = "freight_implausible"         // the price with freight is hardly above that without
	WarnTablesOld      = "tables_old"                  // the tables were last checked more than twelve months ago
	WarnFeesOld        = "fees_old"                    // sources of some fees are more than twelve months old
)

var codes = []string{
	WarnAboveAuthority, WarnUndecided, WarnNoPrice, WarnAgeStep, WarnAgeDisputed, WarnExchange, WarnFreightInPrice,
	WarnValueChanges, WarnPortCharge, WarnImplausible, WarnRulesUnknown, WarnTablesOld, WarnRatesApart,
	WarnFreightOdd, WarnFeesOld,
}

func (b *calculation) warnings() []vehicle.Warning {
	var warnings []vehicle.Warning
	own := b.implied.tax.CIFInUSD.String()
	// The authority revises its values every quarter.
	laterQuarter := localtime.Quarter(b.window.to).After(localtime.Quarter(b.asked))
	for _, w := range []*vehicle.Warning{
		b.implausiblePrice(), b.taxBaseWarning(), b.rulesUnknown(), b.tablesOld(), b.stepWarning(), b.disputed(),
		warnIf(!b.implied.derived, WarnExchange, values{"rate": b.implied.fx.String()}),
		warnIf(b.costs.FreightUSD != nil && b.invoice.withSea, WarnFreightInPrice, nil),
		warnIf(b.hasValue() && laterQuarter, WarnValueChanges, values{"own": own}),
		b.portCharge(), b.ratesApart(), b.freightOdd(), b.feesOld(),
	} {
		if w != nil {
			warnings = append(warnings, *w)
		}
	}
	return warnings
}

// warnIf returns a warning of the table of texts on a condition, else nil.
func warnIf(when bool, key string, v values) *vehicle.Warning {
	if !when {
		return nil
	}
	return warn(key, v)
}

// warn returns a warning of the table of texts.
func warn(key string, v values) *vehicle.Warning {
	w := message.New("warning/"+key, v)
	return &w
}

// taxBaseWarning says what is unexpected or not known about the value that is taxed.
func (b *calculation) taxBaseWarning() *vehicle.Warning {
	in, source := b.invoice, b.car.Source.Key()
	switch basis := b.basisOfTax(); {
	case in.price == nil:
		return warn(WarnNoPrice, values{"source": source})
	case in.short():
		if !b.hasValue() {
			return nil
		}
		return warn(WarnUndecided+".short", nil)
	case basis == vehicle.BasisInvoice:
		return warn(WarnAboveAuthority, values{
			"price": b.price(), "own": b.implied.tax.CIFInUSD.String(),
			"expect": rounded(b.taxed.amount.grandTZS).String(), "authority": rounded(b.onOwn().grandTZS).String(),
		})
	case basis == vehicle.BasisUndecided && b.hasValue() && in.base.isRange():
		return warn(WarnUndecided, values{
			"low": rounded(b.taxed.low.grandTZS).String(), "high": rounded(b.taxed.high.grandTZS).String(),
		})
	}
	return nil
}

// Bounds of the price of a car: in US dollars, and as a multiple of the authority's value.
var (
	minPlausible = decimal.NewFromInt(vehicle.MinPlausibleUSD)
	maxTimesOff  = decimal.NewFromInt(10)
)

// implausiblePrice warns of a price that is hardly that of the car: the seller may mean
// another currency, thousands, or a deposit.
func (b *calculation) implausiblePrice() *vehicle.Warning {
	own := b.implied.tax.CIFInUSD
	for _, listed := range []*money.Number{b.car.CFPriceUSD, b.car.FOBPriceUSD} {
		if !positive(listed) {
			continue
		}
		price, variant := listed.Decimal(), ""
		switch {
		case price.LessThan(minPlausible):
		case own.Decimal().IsPositive() && price.Mul(maxTimesOff).LessThan(own.Decimal()):
			variant = ".low"
		case own.Decimal().IsPositive() && price.GreaterThan(own.Decimal().Mul(maxTimesOff)):
			variant = ".high"
		default:
			continue
		}
		return warn(WarnImplausible+variant, values{"price": price.String(), "own": own.String()})
	}
	return nil
}

// onOwn returns the taxes on the authority's own value on the likely landing day.
func (b *calculation) onOwn() taxes {
	return b.likely(b.implied.own)
}

func (b *calculation) stepWarning() *vehicle.Warning {
	s := b.step
	if s == nil {
		return nil
	}
	w := warn(WarnAgeStep, values{"now": s.NowTZS.String(), "next": s.NextTZS.String(), "on": s.On})
	w.Detail = &s.Note.Text
	return w
}

func (b *calculation) disputed() *vehicle.Warning {
	charges := b.disputedCharges()
	if charges == nil {
		return nil
	}
	taxes := func(c charge) string { return rounded(b.implied.under(c, b.taxedValue()).grandTZS).String() }
	statute, practice := charges[0], charges[1]
	return warn(WarnAgeDisputed, values{
		"age":     itoa(duty.Age(b.window.likely, b.yearMade())),
		"statute": statute.age.rate.Shift(2).String(), "statuteTaxes": taxes(statute),
		"practice": practice.age.rate.Shift(2).String(), "practiceTaxes": taxes(practice),
		"charged": b.charged().Shift(2).String(),
	})
}

// ratesApart warns of two exchange rates that differ by more than a tenth.
func (b *calculation) ratesApart() *vehicle.Warning {
	apart := b.implied.fx.Div(b.rate).Sub(decimal.NewFromInt(1)).Abs()
	if !b.implied.derived || apart.LessThanOrEqual(narrow) {
		return nil
	}
	return warn(WarnRatesApart, values{
		"percent": apart.Shift(2).Round(0).String(), "taxes": b.implied.fx.String(), "others": b.rate.String(),
	})
}

// freightOdd warns of a price with freight that is not used.
func (b *calculation) freightOdd() *vehicle.Warning {
	if !b.hardlyFreight() || b.freightTyped() {
		return nil
	}
	gap, key := b.car.CFPriceUSD.Decimal().Sub(b.car.FOBPriceUSD.Decimal()), WarnFreightOdd
	if b.invoice.noFreight {
		key += ".unknown"
	}
	return warn(key, values{"gap": rounded(gap).String()})
}

// rulesUnknown warns of a landing after the last day whose rules are known.
func (b *calculation) rulesUnknown() *vehicle.Warning {
	if announced := b.tables.law.Announced(b.window.to); len(announced) > 0 {
		return warn(WarnRulesUnknown+".announced", values{"from": announced[0].From})
	}
	if b.isSettled(b.window.to) {
		return nil
	}
	return warn(WarnRulesUnknown, values{"until": dateOf(b.tables.law.SettledUntil(b.asked))})
}

// tablesOld warns of tables of costs or taxes that nobody has checked for twelve months.
func (b *calculation) tablesOld() *vehicle.Warning {
	checked := min(b.tables.checked, b.tables.law.Checked())
	day, err := time.ParseInLocation(time.DateOnly, checked, localtime.Zone)
	if err != nil || !midnight(b.now).After(day.AddDate(1, 0, 0)) {
		return nil // our own date, and check has seen that of an operator's file
	}
	return warn(WarnTablesOld, values{"checked": checked})
}

// portCharge warns of the port infrastructure charge where the sources disagree.
func (b *calculation) portCharge() *vehicle.Warning {
	at := slices.IndexFunc(b.lines, func(l vehicle.CostLine) bool { return l.Code == codePID && l.LowTZS != l.HighTZS })
	if at < 0 {
		return nil
	}
	return warn(WarnPortCharge, values{"low": b.lines[at].LowTZS.String(), "high": b.lines[at].HighTZS.String()})
}

// feesOld says once how many fees of the tables come from sources of more than twelve
// months ago.
func (b *calculation) feesOld() *vehicle.Warning {
	count, oldest := 0, ""
	for _, l := range b.lines {
		if !l.Estimated || l.Standing != vehicle.Typical || b.tables.partOf(l.Code) == partTaxes || !isOld(l.Date, b.now) {
			continue
		}
		if count++; oldest == "" || l.Date < oldest {
			oldest = l.Date
		}
	}
	if count == 0 {
		return nil
	}
	return warn(WarnFeesOld, values{"count": itoa(count), "oldest": oldest})
}

// isOld reports whether a date of a source, 2019, 2025-06 or 2025-06-30, is more than twelve
// months ago, counted from its last day.
func isOld(date string, now time.Time) bool {
	for form, years := range map[string][3]int{"2006": {2, 0, 0}, "2006-01": {1, 1, 0}, time.DateOnly: {1, 0, 1}} {
		if day, err := time.ParseInLocation(form, date, localtime.Zone); err == nil {
			return !now.Before(day.AddDate(years[0], years[1], years[2]))
		}
	}
	return true // no date at all
}
