package duty

import (
	"slices"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

// Vehicle is what the rules look at.
type Vehicle struct {
	CC   int    // engine displacement in cc; 0 for an electric car
	Fuel string // in the authority's words: PETROL, DIESEL, PETROL & ELECTRIC, ELECTRIC
	Age  int    // years, see Age
}

// Breakdown is the tax on one car. Amounts are exact and are rounded, half up
// to two decimals, only when printed: so printed lines may differ from a
// printed total by a cent, as in the authority's own output.
type Breakdown struct {
	CIF            money.Amount // USD
	ImportDuty     money.Amount // USD
	Excise         money.Amount // USD, by engine capacity
	AgeExcise      money.Amount // USD, by age
	ProcessingFee  money.Amount // USD
	RailwayLevy    money.Amount // USD
	IndustrialLevy money.Amount // USD
	VAT            money.Amount // USD
	TotalUSD       money.Amount // the import taxes above
	TotalTZS       money.Amount // the same in shillings, from the unrounded USD
	HIVLevy        money.Amount // TZS
	Registration   money.Amount // TZS
	GrandTotalTZS  money.Amount // TotalTZS, HIVLevy and Registration
}

// Compute applies the formula to a customs value in USD at an exchange rate in
// TZS per USD. The formula was fitted to the one complete modern output of the
// authority that is known (2025 Q4) and reproduces it to the cent. The rate
// must be positive: zero panics, as any division by zero.
func (r Rules) Compute(v Vehicle, cif, fx decimal.Decimal) Breakdown {
	var (
		duty     = cif.Mul(r.ImportDuty)
		excise   = cif.Add(duty).Mul(r.exciseRate(v))
		age      = r.ageExciseBase(cif, duty, excise).Mul(decimal.Max(r.AgeRates(v))) // better warned than surprised
		fee      = cif.Mul(r.ProcessingFee)
		railway  = cif.Mul(r.RailwayLevy)
		industry = cif.Mul(r.IndustrialLevy)
		hiv      = feeOf(r.HIVLevy, v.CC)
		register = feeOf(r.Registration, v.CC)
		lines    = decimal.Sum(duty, excise, age, fee, railway, industry)
		vat      = cif.Add(lines).Mul(r.VAT)
		usd      = lines.Add(vat)
		tzs      = usd.Mul(fx)
	)
	if r.FeesInVAT {
		vatOnFees := hiv.Add(register).Mul(r.VAT) // TZS
		vat = vat.Add(vatOnFees.Div(fx))
		usd = lines.Add(vat)
		tzs = tzs.Add(vatOnFees) // not usd × fx: the quotient above is not exact, this is
	}
	return Breakdown{
		CIF:            money.New(cif),
		ImportDuty:     money.New(duty),
		Excise:         money.New(excise),
		AgeExcise:      money.New(age),
		ProcessingFee:  money.New(fee),
		RailwayLevy:    money.New(railway),
		IndustrialLevy: money.New(industry),
		VAT:            money.New(vat),
		TotalUSD:       money.New(usd),
		TotalTZS:       money.New(tzs),
		HIVLevy:        money.New(hiv),
		Registration:   money.New(register),
		GrandTotalTZS:  money.New(decimal.Sum(tzs, hiv, register)),
	}
}

func (r Rules) exciseRate(v Vehicle) decimal.Decimal {
	if slices.Contains(r.NoExciseFuels, v.Fuel) {
		return decimal.Zero
	}
	for _, band := range r.Excise {
		if fits(band.CCMax, v.CC) && (band.Fuel == "" || band.Fuel == v.Fuel) {
			return band.Rate
		}
	}
	return decimal.Zero
}

// AgeRates are the excise by age of a car by statute and as it is reported to
// be charged, as fractions; where nothing else is reported they are equal.
func (r Rules) AgeRates(v Vehicle) (statute, practice decimal.Decimal) {
	if slices.Contains(r.NoAgeExciseFuels, v.Fuel) {
		return decimal.Zero, decimal.Zero
	}
	var band AgeBand
	for _, b := range r.AgeExcise {
		if b.AgeMin <= v.Age {
			band = b
		}
	}
	if band.Practice == nil {
		return band.Rate, band.Rate
	}
	return band.Rate, *band.Practice
}

func (r Rules) ageExciseBase(cif, duty, excise decimal.Decimal) decimal.Decimal {
	if r.AgeBase == onCIFDutyExcise {
		return decimal.Sum(cif, duty, excise)
	}
	return cif.Add(duty)
}

func feeOf(bands []FeeBand, cc int) decimal.Decimal {
	for _, band := range bands {
		if fits(band.CCMax, cc) {
			return band.TZS
		}
	}
	return decimal.Zero
}

// Registrations returns the fees that the registration of a vehicle can cost: one by its engine,
// or for an electric vehicle, whose battery listings do not give, that of each battery.
func (r Rules) Registrations(v Vehicle) []FeeBand {
	if v.Fuel == electric && len(r.ElectricRegistration) > 0 {
		return r.ElectricRegistration
	}
	return []FeeBand{{TZS: feeOf(r.Registration, v.CC)}}
}

// electric is the authority's word for cars without an engine.
const electric = "ELECTRIC"

func fits(ccMax *int, cc int) bool { return ccMax == nil || cc <= *ccMax }

// Of returns the rules as they apply to one vehicle: of each list only what it
// pays. Its age excise is the statutory one; AgeRates has both.
func (r Rules) Of(v Vehicle) Rules {
	statute, _ := r.AgeRates(v)
	r.Excise = []ExciseBand{{Rate: r.exciseRate(v)}}
	r.AgeExcise = []AgeBand{{Rate: statute}}
	r.HIVLevy = []FeeBand{{TZS: feeOf(r.HIVLevy, v.CC)}}
	r.Registration = []FeeBand{{TZS: feeOf(r.Registration, v.CC)}}
	r.NoExciseFuels, r.NoAgeExciseFuels = nil, nil
	return r
}
