package cost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"ushuru/pkg/cost"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The highest price put back in meets the target, and a dollar more does not.
func TestTheHighestPriceJustMeetsTheTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		target := decimal.NewFromInt(int64(rapid.IntRange(1, 400).Draw(t, "million"))).Mul(decimal.NewFromInt(1_000_000))
		tables, terms := cost.Embedded(), onDays(d.rate, d.now, d.now.AddDate(0, 0, 60))
		got := tables.MaxPrice(d.estimate, terms, d.now, target)
		total := func(price int64, withSea bool) vehicle.DriveAway {
			e, usd := d.estimate, money.NewNumber(decimal.NewFromInt(price))
			if e.Car.FOBPriceUSD, e.Car.CFPriceUSD = &usd, nil; withSea {
				e.Car.FOBPriceUSD, e.Car.CFPriceUSD = nil, &usd
			}
			return tables.Calculate(e, terms, d.now).DriveAway
		}
		for withSea, limits := range map[bool]*vehicle.PriceLimits{false: got.FOB, true: got.CF} {
			if limits == nil {
				if total(1, withSea).Complete {
					t.Fatal("the cost is complete, and there is no price")
				}
				continue
			}
			for name, limit := range map[string]struct {
				price *int64
				of    func(vehicle.DriveAway) money.Amount
			}{
				"low":    {limits.Low, func(d vehicle.DriveAway) money.Amount { return d.HighTZS }},
				"likely": {limits.Likely, func(d vehicle.DriveAway) money.Amount { return d.TotalTZS }},
				"high":   {limits.High, func(d vehicle.DriveAway) money.Amount { return d.LowTZS }},
			} {
				most := int64(0)
				if limit.price != nil {
					most = *limit.price
					if limit.of(total(most, withSea)).Decimal().GreaterThan(target) {
						t.Fatalf("%s (C&F %v): USD %d is above the target", name, withSea, most)
					}
				}
				if !limit.of(total(most+1, withSea)).Decimal().GreaterThan(target) {
					t.Fatalf("%s (C&F %v): USD %d meets the target too", name, withSea, most+1)
				}
			}
			if limits.Low != nil && (*limits.Low > *limits.Likely || *limits.Likely > *limits.High) {
				t.Fatalf("%d, %d, %d", *limits.Low, *limits.Likely, *limits.High)
			}
		}
	})
}

// learner knows the same of every car.
type learner cost.Learned

func (l learner) Learned(vehicle.Estimate) cost.Learned { return cost.Learned(l) }

func TestLearnedFreightStandsOverTheTable(t *testing.T) {
	value := func(low, median, high string) *cost.LearnedValue {
		return &cost.LearnedValue{
			Low: dec(low), Median: dec(median), High: dec(high), Count: 312, Site: "BE FORWARD", From: "2026-10-14", To: "2026-11-20",
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.estimate.Car.CFPriceUSD, d.estimate.Car.FOBPriceUSD = nil, numberOf(dec("5000"))
		d.estimate.Car.M3 = numberOf(dec("11"))
		tables := cost.Embedded().Learning(learner{Freight: value("110", "118", "125")})
		drive, _ := landed(tables, d.estimate, d.rate, d.now)
		line := lineOf(drive, "freight")
		if line.AmountUSD.String() != "1,298.00" || line.LowUSD.String() != "1,210.00" || line.HighUSD.String() != "1,375.00" ||
			line.Source != "median of 312 listings of BE FORWARD, 14 October 2026 to 20 November 2026" || line.SourceText == nil {
			t.Fatalf("%+v", line)
		}
		before := d.calculate()
		if before.HighTZS.Decimal().Sub(before.LowTZS.Decimal()).LessThan(drive.HighTZS.Decimal().Sub(drive.LowTZS.Decimal())) {
			t.Fatal("what is learned widens the range")
		}
		terms := onDays(d.rate, d.now, d.now)
		terms.Costs = &vehicle.Costs{FreightUSD: numberOf(dec("900"))}
		if typed := lineOf(tables.Calculate(d.estimate, terms, d.now).DriveAway, "freight"); typed.AmountUSD.String() != "900.00" {
			t.Fatalf("the caller's freight: %+v", typed)
		}
	})
}

func TestLearnedVolumeStandsOverTheBody(t *testing.T) {
	tables := cost.Embedded().Learning(learner{Volume: &cost.LearnedValue{
		Low: dec("10.5"), Median: dec("10.8"), High: dec("11"), Count: 40, From: "2026-10-14", To: "2026-11-20",
	}})
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		d.estimate.Car.CFPriceUSD, d.estimate.Car.FOBPriceUSD, d.estimate.Car.M3 = nil, numberOf(dec("5000")), nil
		drive, _ := landed(tables, d.estimate, d.rate, d.now)
		want := "10.8 m³ (10.5 to 11); median of 40 listings of several sites, 14 October 2026 to 20 November 2026"
		if line := lineOf(drive, "handling"); line.Code != "" && !strings.Contains(line.Basis, want) {
			t.Fatalf("%+v", line)
		}
	})
}

func lineOf(d vehicle.DriveAway, code string) (line vehicle.CostLine) {
	for _, l := range d.Lines {
		if l.Code == code {
			return l
		}
	}
	return line
}

// The file with what is learned is one that Load takes, and names its listings.
func TestWhatIsLearnedMakesAFile(t *testing.T) {
	t.Parallel()
	data, err := cost.LearnedFile(map[string][]cost.LearnedValue{"JAPAN": {
		{Low: dec("110"), Median: dec("118.126"), High: dec("125"), Count: 312, Site: "BE FORWARD", From: "2026-10-14", To: "2026-11-20"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	tables, err := cost.Parse(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	e := vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: numberOf(dec("5000")), M3: numberOf(dec("10"))}, Tax: answer(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), 2019, 1490, "PETROL", "4000")}
	drive, _ := landed(tables, e, cost.DefaultRate, time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	if line := lineOf(drive, "freight"); line.AmountUSD.String() != "1,181.30" || !strings.Contains(line.Source, "312 listings of BE FORWARD") {
		t.Errorf("%+v\n%s", line, data)
	}
}
