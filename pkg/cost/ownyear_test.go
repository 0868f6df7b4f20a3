package cost_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"ushuru/pkg/cost"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

// The authority answered for another year than the car's own, because its list lacks it:
// the value is that of the other, the age and so the taxes are the car's own. The range
// holds both ages.
func TestTheCarsOwnYearIsItsAge(t *testing.T) {
	t.Parallel()
	for _, basis := range []string{"manufacture", "registration", "model", "title", ""} {
		for _, listed := range []int{2010, 2014, 2019, 2021} {
			const own = 2017
			as := func(yom int) vehicle.DriveAway {
				e := vehicle.Estimate{
					Tax: answer(november, yom, 1496, "PETROL", "3199"),
					Car: vehicle.Car{CFPriceUSD: number("2000"), M3: number("11"), Year: own, YearBasis: basis},
				}
				drive, _ := landed(cost.Embedded(), e, cost.DefaultRate, november)
				return drive
			}
			got, want := lineOf(as(listed), "import_taxes"), lineOf(as(own), "import_taxes")
			if got.AmountTZS.Decimal().Sub(want.AmountTZS.Decimal()).Abs().GreaterThan(dec("100")) {
				t.Errorf("%s, listed %d: taxes %s, by its own year %s", basis, listed, got.AmountTZS, want.AmountTZS)
			}
			other := answer(november, listed, 1496, "PETROL", "3199").TotalImportTaxesInTZS.Decimal()
			if got.LowTZS.Decimal().GreaterThan(other) || got.HighTZS.Decimal().LessThan(other.Sub(dec("100"))) {
				t.Errorf("%s, listed %d: %s to %s does not hold the listed year's %s", basis, listed, got.LowTZS, got.HighTZS, other)
			}
		}
	}
}

// Whatever year the authority answers for, the range holds the taxes by the car's own.
func TestTheRangeHoldsTheOwnYear(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.now = d.now.In(localtime.Zone)
		d.estimate.Car.Year = d.estimate.Tax.YOM + rapid.IntRange(-3, 3).Draw(t, "apart")
		d.estimate.Car.YearBasis = rapid.SampledFrom([]string{"manufacture", "registration", "model"}).Draw(t, "basis")
		got := d.calculate()
		own := d.estimate
		own.Tax.YOM = own.Car.Year
		listed := duty.Vehicle{Fuel: own.Tax.FuelType, Age: duty.Age(d.now, d.estimate.Tax.YOM)}
		mine := duty.Vehicle{Fuel: own.Tax.FuelType, Age: duty.Age(d.now, own.Car.Year)}
		before, after := rateOf(d.now, listed), rateOf(d.now, mine)
		line := lineOf(got, "import_taxes")
		verbatim := d.estimate.Tax.TotalImportTaxesInTZS.Decimal()
		if line.LowTZS.Decimal().GreaterThan(verbatim) && got.TaxBase.Basis == vehicle.BasisAuthority {
			t.Fatalf("%s to %s does not hold the authority's own %s", line.LowTZS, line.HighTZS, verbatim)
		}
		if older := after > before; older && got.TaxBase.Basis == vehicle.BasisAuthority &&
			!line.HighTZS.Decimal().GreaterThan(verbatim) {
			t.Fatalf("an older car (%v, listed %v) at most pays %s as the listed one, %s", mine, listed, line.HighTZS, verbatim)
		}
	})
}

func rateOf(on time.Time, car duty.Vehicle) float64 {
	statute, practice := duty.On(on).AgeRates(car)
	return max(statute.InexactFloat64(), practice.InexactFloat64())
}
