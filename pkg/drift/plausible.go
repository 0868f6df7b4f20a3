package drift

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/vehicle"
)

// The bounds of what can be an answer of the authority. They are far outside of what
// any known rules give, because a Finance Act may change the rules.
var (
	minCIF  = decimal.New(100, 0)    // dollars
	maxCIF  = decimal.New(5, 6)      // dollars
	minRate = decimal.New(500, 0)    // shillings for a dollar
	maxRate = decimal.New(20_000, 0) // shillings for a dollar
	factor  = decimal.New(2, 0)      // of the highest and lowest total that any dated rules give
)

// Implausible returns why an answer cannot be right, in words that follow "because";
// "" when it may be. An answer is implausible without a customs value of a car,
// with totals that contradict each other, or when its total is below half of the
// least or above twice the most that any dated rules give on its own value. Finer
// differences are for Check.
func Implausible(tax vehicle.Tax, on time.Time) string {
	cif, usd, tzs := tax.CIFInUSD.Decimal(), tax.TotalImportTaxesInUSD.Decimal(), tax.TotalImportTaxesInTZS.Decimal()
	total := tax.TotalTaxesInTZS.Decimal()
	switch {
	case cif.LessThan(minCIF) || cif.GreaterThan(maxCIF):
		return fmt.Sprintf("the customs value is USD %s", tax.CIFInUSD)
	case total.Mul(factor).LessThan(tzs):
		return fmt.Sprintf("the total of TZS %s is less than half of its own lines", tax.TotalTaxesInTZS)
	}
	var fx decimal.Decimal
	if usd.IsPositive() {
		if fx = tzs.Div(usd); fx.LessThan(minRate) || fx.GreaterThan(maxRate) {
			return fmt.Sprintf("the import taxes are USD %s and TZS %s", tax.TotalImportTaxesInUSD, tax.TotalImportTaxesInTZS)
		}
	}
	if otherVehicle(tax) || tax.YOM <= 0 {
		return "" // lorries and buses pay other rates
	}
	if fx.IsZero() {
		return "there are no import taxes"
	}
	least, most := totals(tax, on, fx)
	if total.Mul(factor).LessThan(least) || total.GreaterThan(most.Mul(factor)) {
		return fmt.Sprintf("the total is TZS %s, where all known rules give TZS %s to %s on a value of USD %s",
			tax.TotalTaxesInTZS, least.Round(0), most.Round(0), tax.CIFInUSD)
	}
	return ""
}

// anySizes stand for a band that cannot be parsed.
var anySizes = []int{1000, 2000, 3001}

// totals returns the least and the most that any dated rules give on the value of
// an answer.
func totals(tax vehicle.Tax, on time.Time, fx decimal.Decimal) (least, most decimal.Decimal) {
	sizes := capacities(tax.EngineCapacity)
	if len(sizes) == 0 {
		sizes = anySizes
	}
	age := duty.Age(on, tax.YOM)
	for rules, more := duty.On(on), true; more; rules, more = rules.Before() {
		for _, cc := range sizes {
			car := duty.Vehicle{CC: cc, Fuel: tax.FuelType, Age: age}
			total := rules.Compute(car, tax.CIFInUSD.Decimal(), fx).GrandTotalTZS.Decimal()
			if least.IsZero() || total.LessThan(least) {
				least = total
			}
			most = decimal.Max(most, total)
		}
	}
	return least, most
}
