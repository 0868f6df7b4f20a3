package cost_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// said is a sentence of an answer: its key in the table of texts and its values.
type said struct {
	key    string
	values message.Values
	text   vehicle.Text
	line   vehicle.CostLine // whose basis it is
}

// sayings returns every sentence of an answer that has a code.
func sayings(a cost.Answer) (all []said) {
	add := func(family, code string, v message.Values, text vehicle.Text) {
		all = append(all, said{family + "/" + code, v, text, vehicle.CostLine{}})
	}
	sentence := func(family string, s vehicle.Sentence) { add(family, s.Code, s.Values, s.Text) }
	s, d := a.Summary, a.DriveAway
	sentence("summary", s.Text)
	sentence("summary", s.Exchange.Text)
	sentence("summary", s.AuthorityTaxes.Why)
	sentence("landing", s.Landing.Basis)
	sentence("tax_base_short", d.TaxBase.Explanation)
	if s.Taxes != nil {
		sentence("tax_base", s.Taxes.Why)
	}
	for _, m := range d.Missing {
		all = append(all, said{"missing/" + m.ReasonCode, m.Values, *m.Text, vehicle.CostLine{Code: m.Code}})
	}
	for _, q := range s.Ask {
		add("ask", q.Code, nil, q.Text)
	}
	for _, n := range s.NotIncluded {
		sentence("not_included", n.Text)
	}
	for _, l := range d.Lines {
		for _, part := range l.BasisParts {
			all = append(all, said{"basis/" + part.Code, part.Values, *l.BasisText, l})
		}
	}
	for _, of := range d.Scenarios {
		sentence("scenario", of.Text)
		all = append(all, said{"settle/" + of.Question, nil, of.Settle, vehicle.CostLine{}})
	}
	if d.AgeStep != nil {
		sentence("age_step", d.AgeStep.Note)
	}
	for _, w := range a.Warnings {
		add("warning", w.Code, w.Values, *w.Text)
	}
	return all
}

// facts are what the claims are checked against: the quote, and the figures of its answer.
type facts struct {
	quote

	got         cost.Answer
	costs       vehicle.Costs
	own         decimal.Decimal // the authority's value
	likely      time.Time
	from        string // the country
	priced, sea bool   // there is a price; freight and insurance are known too
}

func factsOf(q quote, got cost.Answer) facts {
	f := facts{quote: q, got: got, own: q.estimate.Tax.CIFInUSD.Decimal(), from: q.estimate.Car.LocatedIn}
	if q.terms.Costs != nil {
		f.costs = *q.terms.Costs
	}
	if f.from == "" {
		f.from = q.estimate.Tax.Country
	}
	f.likely, _ = time.ParseInLocation(time.DateOnly, got.Summary.Landing.Likely, localtime.Zone)
	f.priced = q.estimate.Car.FOBPriceUSD != nil || q.estimate.Car.CFPriceUSD != nil
	f.sea = f.priced && !f.misses("freight") && !f.misses("insurance")
	return f
}

func (f facts) misses(code string) bool {
	return slices.ContainsFunc(f.got.DriveAway.Missing, func(m vehicle.Missing) bool { return m.Code == code })
}

func (f facts) has(code string) bool {
	return slices.ContainsFunc(f.got.DriveAway.Lines, func(l vehicle.CostLine) bool { return l.Code == code })
}

func (f facts) on(day string) bool { return f.got.Summary.Landing.Likely >= day }

// hasRate reports whether the authority's totals imply an exchange rate.
func (f facts) hasRate() bool {
	usd, tzs := f.estimate.Tax.TotalImportTaxesInUSD.Decimal(), f.estimate.Tax.TotalImportTaxesInTZS.Decimal()
	return usd.IsPositive() && tzs.Div(usd).GreaterThan(decimal.NewFromInt(500))
}

// value returns a value of a sentence as a number.
func (s said) value(name string) decimal.Decimal {
	d, err := decimal.NewFromString(strings.ReplaceAll(s.values[name], ",", ""))
	if err != nil {
		panic(fmt.Sprintf("%s: %s is %q", s.key, name, s.values[name]))
	}
	return d
}

func (s said) is(name string, want decimal.Decimal) bool { return s.value(name).Equal(want.Round(2)) }

// above reports whether the value that is taxed is above the authority's.
func (f facts) above() bool {
	return f.own.IsPositive() && f.got.DriveAway.TaxBase.CIFInUSD.Decimal().GreaterThan(f.own)
}

func (f facts) isOlder() bool {
	return duty.Age(f.likely, f.estimate.Car.Year) > duty.Age(f.now, f.estimate.Car.Year)
}

func (f facts) isOtherYear() bool { return f.estimate.Car.Year != f.estimate.Tax.YOM }

func (f facts) isOtherLaw() bool { return duty.On(f.likely).From != duty.On(f.now).From }

// undecided reports whether the authority's value lies in the range of the invoice's.
func (f facts) undecided() bool {
	b := f.got.DriveAway.TaxBase
	return f.sea && !b.InvoiceCIFLow.Decimal().GreaterThan(f.own) && b.InvoiceCIFHigh.Decimal().GreaterThan(f.own)
}

// always holds of a sentence that claims nothing about the car.
func always(facts, said) bool { return true }

// claims has for each sentence of the cost what it claims of an answer.
var claims = map[string]func(facts, said) bool{
	"summary/on_the_road":     isTotal,
	"summary/on_the_road_day": isTotal,
	"summary/without_freight": func(f facts, s said) bool {
		freight, insurance := strings.Contains(s.text.EN, "freight"), strings.Contains(s.text.EN, "insurance")
		if strings.Contains(s.text.SW, "bila bima") == freight || strings.Contains(s.text.SW, "bima") != insurance {
			return false
		}
		return f.priced && f.got.Summary.OnTheRoad == nil && f.got.Summary.WithoutFreight != nil &&
			f.misses("freight") == freight && f.misses("insurance") == insurance
	},
	"summary/port_and_taxes": func(f facts, _ said) bool { return !f.priced && f.got.Summary.OnTheRoad == nil },
	"summary/incomplete":     func(f facts, _ said) bool { return !f.got.DriveAway.Complete && f.got.Summary.OnTheRoad == nil },
	"summary/exchange": func(f facts, s said) bool {
		isOwn := strings.Contains(s.text.EN, "own answer")
		return f.hasRate() == isOwn && strings.Contains(s.text.SW, "jibu la TRA lenyewe") == isOwn &&
			s.is("others", f.terms.Rate) && s.is("taxes", f.got.Summary.Exchange.Taxes.Decimal())
	},
	"summary/taxes_age":         func(f facts, _ said) bool { return f.isOlder() && !f.above() },
	"summary/taxes_rules":       func(f facts, _ said) bool { return f.isOtherLaw() && !f.above() },
	"summary/taxes_year":        func(f facts, _ said) bool { return f.isOtherYear() && !f.above() },
	"summary/taxes_price":       func(f facts, _ said) bool { return f.sea && f.above() },
	"summary/taxes_price_age":   func(f facts, _ said) bool { return f.sea && f.above() && f.isOlder() },
	"summary/taxes_price_rules": func(f facts, _ said) bool { return f.sea && f.above() && f.isOtherLaw() },
	"summary/taxes_price_year":  func(f facts, _ said) bool { return f.sea && f.above() && f.isOtherYear() },
	"summary/taxes_same": func(f facts, s said) bool {
		return f.sea && s.value("expect").Equal(decimal.NewFromInt(f.got.Summary.AuthorityTaxes.TZS))
	},
	"summary/taxes_unknown":  func(f facts, _ said) bool { return !f.sea },
	"summary/taxes_no_value": func(f facts, _ said) bool { return !f.own.IsPositive() },

	"tax_base/authority_cif": func(f facts, s said) bool { return f.sea && s.is("own", f.own) && !s.value("cif").GreaterThan(f.own) },
	"tax_base/invoice_cif":   func(f facts, s said) bool { return f.sea && s.is("own", f.own) && s.value("cif").GreaterThan(f.own) },
	"tax_base/no_price":      func(f facts, s said) bool { return !f.priced && s.is("own", f.own) },
	"tax_base/no_value":      func(f facts, _ said) bool { return f.priced && !f.own.IsPositive() },
	"tax_base/not_known": func(f facts, s said) bool {
		return f.priced && !f.sea && f.got.DriveAway.TaxBase.CIFInUSD.Decimal().Equal(decimal.Max(f.own, s.value("cif")))
	},
	"tax_base/undecided": func(f facts, s said) bool {
		return f.undecided() && !s.value("low").GreaterThan(f.own) && s.value("high").GreaterThan(f.own) &&
			f.got.DriveAway.TaxBase.CIFInUSD.Decimal().Equal(decimal.Max(f.own, s.value("cif")))
	},
	"tax_base_short/authority_cif": func(f facts, _ said) bool {
		return f.sea && !f.got.DriveAway.TaxBase.InvoiceCIFHigh.Decimal().GreaterThan(f.own)
	},
	"tax_base_short/invoice_cif": func(f facts, _ said) bool {
		return f.sea && f.got.DriveAway.TaxBase.InvoiceCIFLow.Decimal().GreaterThan(f.own)
	},
	"tax_base_short/no_price":  func(f facts, _ said) bool { return !f.priced },
	"tax_base_short/no_value":  func(f facts, _ said) bool { return !f.own.IsPositive() },
	"tax_base_short/not_known": func(f facts, _ said) bool { return f.priced && !f.sea },
	"tax_base_short/undecided": func(f facts, _ said) bool { return f.undecided() },

	"landing/named": func(f facts, _ said) bool { return f.terms.Landing != nil },
	"landing/usual": func(f facts, s said) bool {
		day := func(name string) string {
			return f.now.In(localtime.Zone).AddDate(0, 0, int(s.value(name).IntPart())).Format(time.DateOnly)
		}
		return f.terms.Landing == nil && f.got.Summary.Landing.From == day("from") && f.got.Summary.Landing.To == day("to")
	},

	"missing/no_price":         func(f facts, s said) bool { return !f.priced && s.line.Code == "car_price" },
	"missing/depends_on_price": func(f facts, _ said) bool { return !f.priced },
	"missing/elsewhere": func(f facts, s said) bool {
		return f.estimate.Car.LocatedIn == s.values["country"] && f.from != "JAPAN" && (s.line.Code == "freight" || s.line.Code == "insurance")
	},
	"missing/no_volume": func(f facts, _ said) bool {
		return f.estimate.Car.M3 == nil && f.costs.ShippingM3 == nil && slices.Contains([]string{"BUS", "MOTORCYCLE"}, f.estimate.Tax.BodyType)
	},

	"not_included/port_storage": func(f facts, s said) bool { return f.costs.DaysInPort == nil && s.value("perDay").IsPositive() },
	"not_included/port_storage_by_volume": func(f facts, _ said) bool {
		return f.costs.DaysInPort == nil && f.costs.ShippingM3 == nil && f.estimate.Car.M3 == nil
	},
	"not_included/bank_fee":                func(f facts, _ said) bool { return !f.has("bank_fee") },
	"not_included/inland_delivery":         func(f facts, _ said) bool { return !f.has("inland_delivery") },
	"not_included/comprehensive_insurance": func(f facts, _ said) bool { return !f.has("comprehensive_insurance") && f.has("third_party_insurance") },
	"not_included/inspection_penalty":      func(f facts, _ said) bool { return !f.has("inspection") && !f.has("tbs_destination") },

	"ask/price":  func(f facts, _ said) bool { return !f.priced },
	"ask/volume": func(f facts, _ said) bool { return f.estimate.Car.M3 == nil && f.costs.ShippingM3 == nil },
	"ask/freight_and_insurance": func(f facts, s said) bool {
		b := f.got.DriveAway.TaxBase
		decides := f.own.IsPositive() && (!f.sea || b.InvoiceCIFHigh.Decimal().GreaterThan(f.own))
		return f.priced && strings.Contains(s.text.EN, "decide") == decides && strings.Contains(s.text.SW, "zinazoamua") == decides
	},
	"ask/auction_sheet":      func(f facts, _ said) bool { return f.estimate.Car.ConditionReportURL == nil },
	"ask/seat_belt_label":    always,
	"ask/export_certificate": always,

	"scenario/own_year": func(f facts, s said) bool {
		return f.isOtherYear() && s.is("made", decimal.NewFromInt(int64(f.estimate.Car.Year)))
	},
	"scenario/listed_year": func(f facts, s said) bool {
		return f.isOtherYear() && s.is("listed", decimal.NewFromInt(int64(f.estimate.Tax.YOM)))
	},
	"scenario/authority_value": func(f facts, s said) bool { return f.undecided() && s.is("value", f.own) },
	"scenario/invoice_value": func(f facts, s said) bool {
		return f.undecided() && s.is("value", f.got.DriveAway.TaxBase.InvoiceCIFHigh.Decimal())
	},
	"scenario/freight_low":  isFreight,
	"scenario/freight_high": isFreight,

	"scenario/insurance_low":  isInsurance,
	"scenario/insurance_high": isInsurance,

	"scenario/landed_before": func(f facts, s said) bool {
		return f.got.Summary.Landing.From < s.values["on"] && s.values["on"] <= f.got.Summary.Landing.To
	},
	"scenario/landed_after": func(f facts, s said) bool {
		return f.got.Summary.Landing.From < s.values["on"] && s.values["on"] <= f.got.Summary.Landing.To
	},
	"scenario/law_as_charged": func(f facts, s said) bool {
		t := f.estimate.Tax
		rate := cost.AgePercent(t.CIFInUSD.Decimal(), t.ImportDutyInUSD.Decimal(), t.ExiseDutyDueToAgeInUSD.Decimal())
		return rate != nil && s.is("percent", rate.Decimal())
	},
	"scenario/law_of": func(f facts, s said) bool {
		rules, _ := time.ParseInLocation(time.DateOnly, s.values["rules"], localtime.Zone)
		statute, practice := duty.On(rules).AgeRates(duty.Vehicle{Fuel: f.estimate.Tax.FuelType, Age: duty.Age(f.likely, f.estimate.Car.Year)})
		return s.is("percent", statute.Shift(2)) || s.is("percent", practice.Shift(2))
	},
	"settle/year": isWorth, "settle/tax_base": isWorth, "settle/law": isWorth, "settle/freight": isWorth, "settle/landing": isWorth,

	"age_step/rise": func(f facts, s said) bool {
		on, _ := time.ParseInLocation(time.DateOnly, s.values["on"], localtime.Zone)
		return s.is("made", decimal.NewFromInt(int64(f.estimate.Car.Year))) && on.After(f.now) && s.values["on"] <= f.got.Summary.Landing.To &&
			s.is("next", decimal.NewFromInt(int64(duty.Age(on, f.estimate.Car.Year)))) && s.value("then").GreaterThan(s.value("now"))
	},

	"warning/" + cost.WarnAboveAuthority: func(f facts, s said) bool {
		return f.sea && f.above() && s.is("own", f.own) && s.value("expect").GreaterThan(s.value("authority"))
	},
	"warning/" + cost.WarnUndecided: func(f facts, s said) bool {
		return f.priced && (f.undecided() && len(s.values) > 0 || !f.sea && len(s.values) == 0)
	},
	"warning/" + cost.WarnNoPrice: func(f facts, _ said) bool { return !f.priced },
	"warning/" + cost.WarnAgeStep: func(f facts, s said) bool {
		return s.values["on"] <= f.got.Summary.Landing.To && s.value("next").GreaterThan(s.value("now"))
	},
	"warning/" + cost.WarnAgeDisputed: func(f facts, s said) bool {
		return s.is("age", decimal.NewFromInt(int64(duty.Age(f.likely, f.estimate.Car.Year)))) && !s.value("statute").Equal(s.value("practice"))
	},
	"warning/" + cost.WarnExchange: func(f facts, s said) bool { return !f.hasRate() && s.is("rate", f.terms.Rate) },
	"warning/" + cost.WarnFreightInPrice: func(f facts, _ said) bool {
		return f.costs.FreightUSD != nil && f.estimate.Car.FOBPriceUSD == nil && f.estimate.Car.CFPriceUSD != nil
	},
	"warning/" + cost.WarnValueChanges: func(f facts, s said) bool {
		return f.got.DriveAway.Landing.To >= quarterAfter(f.now) && s.is("own", f.own)
	},
	"warning/" + cost.WarnPortCharge: func(f facts, s said) bool {
		return f.has("port_infrastructure") && s.value("high").GreaterThan(s.value("low"))
	},
	"warning/" + cost.WarnImplausible: func(f facts, s said) bool {
		price := s.value("price")
		ten := decimal.NewFromInt(10)
		return price.LessThan(decimal.NewFromInt(200)) || price.Mul(ten).LessThan(f.own) || price.GreaterThan(f.own.Mul(ten))
	},
	"warning/" + cost.WarnRulesUnknown: func(f facts, s said) bool {
		return f.got.DriveAway.Landing.To > s.values["until"] && s.values["until"] == duty.Current().SettledUntil(f.now).Format(time.DateOnly)
	},
	"warning/" + cost.WarnRatesApart: func(f facts, s said) bool {
		ratio, _ := s.value("taxes").Div(s.value("others")).Float64()
		return f.hasRate() && (ratio < 0.9 || ratio > 1.1)
	},
	"warning/" + cost.WarnFreightOdd: func(f facts, s said) bool {
		usesTables := f.has("freight")
		return f.estimate.Car.CFPriceUSD.Decimal().Sub(f.estimate.Car.FOBPriceUSD.Decimal()).LessThan(decimal.NewFromInt(100)) &&
			strings.Contains(s.text.EN, "our tables") == usesTables && strings.Contains(s.text.SW, "jedwali") == usesTables
	},
	"warning/" + cost.WarnTablesOld: func(f facts, s said) bool {
		checked, _ := time.ParseInLocation(time.DateOnly, s.values["checked"], localtime.Zone)
		return f.now.After(checked.AddDate(1, 0, 0))
	},

	"warning/" + cost.WarnFeesOld: func(f facts, s said) bool {
		old := 0
		for _, l := range f.got.DriveAway.Lines {
			year, _ := strconv.Atoi(l.Date[:4])
			month := 12
			if len(l.Date) >= len("2006-01") {
				month, _ = strconv.Atoi(l.Date[5:7])
			}
			isTable := l.Standing == vehicle.Typical && l.Code != "import_taxes" // which are computed
			if months := (f.now.Year()-year)*12 + int(f.now.Month()) - month; isTable && months > 12 {
				old++
			}
		}
		return s.is("count", decimal.NewFromInt(int64(old)))
	},

	"basis/caller": func(_ facts, s said) bool { return s.line.Standing == vehicle.Caller },
	"basis/licence_by_battery": func(f facts, s said) bool {
		return f.estimate.Tax.FuelType == "ELECTRIC" && s.line.Code == "registration" && s.line.HighTZS.String() == "550,000.00" && f.on("2025-07-01")
	},
	"basis/authority": func(_ facts, s said) bool { return s.line.Standing == vehicle.Official },
	"basis/price_cf":  func(f facts, s said) bool { return isPrice(f.estimate.Car.CFPriceUSD, s) },
	"basis/price_fob": func(f facts, s said) bool { return isPrice(f.estimate.Car.FOBPriceUSD, s) },
	"basis/taxes_authority": func(f facts, s said) bool {
		return f.got.DriveAway.TaxBase.Recomputed == nil && s.is("cif", f.own)
	},
	"basis/taxes_computed": func(f facts, s said) bool {
		b := f.got.DriveAway.TaxBase
		return b.Recomputed != nil && s.is("cif", b.CIFInUSD.Decimal()) && s.values["day"] == f.got.Summary.Landing.Likely
	},
	"basis/by_rates":      func(f facts, _ said) bool { return f.got.DriveAway.TaxBase.Recomputed != nil },
	"basis/by_proportion": func(f facts, _ said) bool { return f.got.DriveAway.TaxBase.Recomputed != nil },
	"basis/per_m3": func(_ facts, s said) bool {
		return counts(s, s.value("value").Mul(part(s.line, "volume", "m3")), s.line.AmountUSD)
	},
	"basis/per_car_usd": func(_ facts, s said) bool { return counts(s, s.value("value"), s.line.AmountUSD) },
	"basis/per_car_tzs": func(_ facts, s said) bool { return counts(s, s.value("value"), s.line.AmountTZS) },
	"basis/of_cif": func(f facts, s said) bool {
		share := s.value("percent").Shift(-2).Mul(f.got.DriveAway.TaxBase.CIFInUSD.Decimal())
		least := s.line.Code == "comprehensive_insurance" && s.line.AmountTZS.String() == "250,000.00"
		return least || counts(s, share, s.line.AmountUSD)
	},
	"basis/of_cf":       func(_ facts, s said) bool { return s.line.Code == "insurance" },
	"basis/of_duty":     func(_ facts, s said) bool { return s.line.Code == "port_infrastructure" },
	"basis/plus_vat":    func(_ facts, s said) bool { return s.is("percent", decimal.NewFromInt(18)) },
	"basis/vat_in_high": func(_ facts, s said) bool { return s.line.HighUSD.Decimal().GreaterThan(s.line.AmountUSD.Decimal()) },
	"basis/volume": func(f facts, s said) bool {
		return f.costs.ShippingM3 != nil && s.is("m3", f.costs.ShippingM3.Decimal()) ||
			f.costs.ShippingM3 == nil && f.estimate.Car.M3 != nil && s.is("m3", f.estimate.Car.M3.Decimal())
	},
	"basis/volume_typical": func(f facts, s said) bool {
		return f.costs.ShippingM3 == nil && f.estimate.Car.M3 == nil && s.value("high").GreaterThan(s.value("low"))
	},
	"basis/volume_source":              always,
	"basis/agency_europe":              func(f facts, _ said) bool { return f.from == "UNITED KINGDOM" },
	"basis/agency_gulf":                func(f facts, _ said) bool { return f.from == "UNITED ARAB EMIRATES" },
	"basis/agency_far_east":            func(f facts, _ said) bool { return f.from == "JAPAN" || f.from == "SINGAPORE" },
	"basis/agency_elsewhere":           func(f facts, _ said) bool { return f.from == "SOUTH AFRICA" },
	"basis/agent_before":               func(f facts, _ said) bool { return !f.on("2026-03-20") },
	"basis/agent_least":                func(f facts, _ said) bool { return f.on("2026-03-20") },
	"basis/pid_put_off":                func(f facts, _ said) bool { return !f.on("2026-07-01") },
	"basis/pid_unconfirmed":            func(f facts, _ said) bool { return f.on("2026-07-01") },
	"basis/green_port_before":          func(f facts, _ said) bool { return !f.on("2026-03-08") },
	"basis/green_port_unsure":          func(f facts, _ said) bool { return f.on("2026-03-08") },
	"basis/inspection_before_shipment": func(f facts, _ said) bool { return f.from == "JAPAN" },
	"basis/radiation":                  func(f facts, _ said) bool { return f.from == "JAPAN" || f.from == "UNITED ARAB EMIRATES" },
	"basis/tbs_once":                   func(f facts, _ said) bool { return f.from != "JAPAN" && !f.has("inspection") },
	"basis/storage_days": func(f facts, s said) bool {
		return f.costs.DaysInPort != nil && s.is("days", decimal.NewFromInt(int64(*f.costs.DaysInPort)))
	},
	"basis/storage_first": always, "basis/storage_later": always, "basis/storage_removal": always, "basis/a_pair": always,
	"basis/first_year": always, "basis/comprehensive": always, "basis/delivery_order": always, "basis/handling_direct": always,
	"basis/wharfage_bounds": always,
}

func isTotal(f facts, s said) bool {
	sum := f.got.Summary.OnTheRoad
	return sum != nil && f.got.DriveAway.Complete && s.is("tzs", decimal.NewFromInt(sum.TZS)) && s.values["to"] == f.got.Summary.Landing.To
}

func isPrice(of *money.Number, s said) bool {
	return of != nil && s.line.AmountUSD.Decimal().Equal(of.Decimal().Round(2))
}

func isFreight(f facts, s said) bool { return isEndOf(f, s, "freight") }

func isInsurance(f facts, s said) bool {
	freight := lineOf(f.got.DriveAway, "freight")
	return isEndOf(f, s, "insurance") && freight.LowUSD == freight.HighUSD
}

// isEndOf reports whether the value of a line in a sentence is its least or its most.
func isEndOf(f facts, s said, code string) bool {
	line := lineOf(f.got.DriveAway, code)
	return s.is(code, line.LowUSD.Decimal()) || s.is(code, line.HighUSD.Decimal())
}

// isWorth reports whether what would settle a question is worth the difference of its answers.
func isWorth(f facts, s said) bool {
	var least, most decimal.Decimal
	for _, of := range f.got.DriveAway.Scenarios {
		total := of.TotalTZS.Decimal()
		if "settle/"+of.Question != s.key {
			continue
		}
		if least.IsZero() {
			least = total
		}
		least, most = decimal.Min(least, total), decimal.Max(most, total)
	}
	return strings.Contains(s.text.EN, message.Say(s.key, message.Values{"worth": money.New(most.Sub(least)).String()}).EN)
}

// part returns a value of another part of a line's basis.
func part(l vehicle.CostLine, code, name string) decimal.Decimal {
	for _, p := range l.BasisParts {
		if strings.HasPrefix(p.Code, code) && p.Values[name] != "" {
			return said{key: p.Code, values: p.Values}.value(name)
		}
	}
	return decimal.Zero
}

// counts reports whether an amount is what its basis says, with VAT where that says so.
func counts(s said, want decimal.Decimal, got money.Amount) bool {
	want = want.Mul(decimal.NewFromInt(100).Add(part(s.line, "plus_vat", "percent"))).Shift(-2)
	return want.Sub(got.Decimal()).Abs().LessThanOrEqual(decimal.New(2, -2))
}

// digits matches the numbers of a text.
var digits = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// sameNumbers reports whether both languages name the same numbers.
func sameNumbers(t vehicle.Text) bool {
	en, sw := digits.FindAllString(t.EN, -1), digits.FindAllString(t.SW, -1)
	slices.Sort(en)
	slices.Sort(sw)
	return slices.Equal(en, sw)
}
