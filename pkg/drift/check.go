// Package drift detects answers of the authority that differ from the dated tax
// rules: a Finance Act may have changed the rules before our table. Ushuru always
// uses the authority's figures.
package drift

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Result is the comparison of one answer with the rules.
type Result struct {
	// Judged is false for an answer that the rules do not cover: a lorry or bus,
	// which pay other rates, or a capacity band that cannot be parsed.
	Judged bool
	Rules  string // first day of the rules in force
	// AgreesWith are the first days of the rules that give every line of the answer: of the rules
	// in force, of the previous rules, of both or of neither.
	AgreesWith     []string
	Differences    []Difference // from the rules in force
	Discriminating bool         // the two sets of rules give different taxes for this car
}

// Difference is a line in which an answer is not what the rules give. The VAT
// and the totals follow from the lines before them.
type Difference struct {
	Line      string       `json:"line"` // the authority's name of the field
	Authority money.Amount `json:"authority"`
	Computed  money.Amount `json:"computed"`
}

// Check recomputes an answer from its own value and exchange rate, by the rules
// in force on its day and by those before them. Amounts agree when they differ by
// at most a cent, or its equivalent in shillings.
func Check(tax vehicle.Tax, on time.Time) Result {
	inForce := duty.On(on)
	v := Result{Rules: inForce.From}
	sizes := capacities(tax.EngineCapacity)
	usd, tzs := tax.TotalImportTaxesInUSD.Decimal(), tax.TotalImportTaxesInTZS.Decimal()
	if otherVehicle(tax) || len(sizes) == 0 || !usd.IsPositive() || !tzs.IsPositive() || tax.YOM <= 0 {
		return v
	}
	v.Judged = true
	fx, age := tzs.Div(usd), duty.Age(on, tax.YOM)
	v.Differences = fewest(tax, inForce, sizes, age, fx)
	if len(v.Differences) == 0 {
		v.AgreesWith = append(v.AgreesWith, inForce.From)
	}
	if before, ok := inForce.Before(); ok {
		agrees := len(fewest(tax, before, sizes, age, fx)) == 0
		if agrees {
			v.AgreesWith = append(v.AgreesWith, before.From)
		}
		v.Discriminating = agrees != (len(v.Differences) == 0)
	}
	return v
}

// fewest returns the differences under the best-fitting reading of the rules,
// because a band contains several engine sizes, the excise duty at some ages is
// disputed, and the battery of an electric car is not in its answer.
func fewest(tax vehicle.Tax, rules duty.Rules, sizes []int, age int, fx decimal.Decimal) []Difference {
	var best []Difference
	for i, cc := range sizes {
		car := duty.Vehicle{CC: cc, Fuel: tax.FuelType, Age: age}
		statute, practice := rules.AgeRates(car)
		for j, rate := range []decimal.Decimal{statute, practice} {
			for k, registration := range rules.Registrations(car) {
				reading := rules
				reading.AgeExcise, reading.Registration = []duty.AgeBand{{Rate: rate}}, []duty.FeeBand{registration}
				found := differences(tax, reading.Compute(car, tax.CIFInUSD.Decimal(), fx), fx)
				if i+j+k == 0 || len(found) < len(best) {
					best = found
				}
			}
		}
	}
	return best
}

var cent = decimal.New(1, -2)

// differences compares line by line.
func differences(tax vehicle.Tax, b duty.Breakdown, fx decimal.Decimal) (found []Difference) {
	for _, line := range lines(tax, b, cent.Mul(fx)) {
		if line.authority.Decimal().Sub(line.computed.Decimal()).Abs().GreaterThan(line.within) {
			computed := money.New(line.computed.Decimal().Round(2))
			found = append(found, Difference{Line: line.name, Authority: line.authority, Computed: computed})
		}
	}
	return found
}

// line is one figure of an answer and of what the rules give.
type line struct {
	name                string
	authority, computed money.Amount
	within              decimal.Decimal
}

// lineNames returns the names of all lines.
func lineNames() (names []string) {
	for _, line := range lines(vehicle.Tax{}, duty.Breakdown{}, cent) {
		names = append(names, line.name)
	}
	return names
}

// lines returns the figures that are compared.
func lines(tax vehicle.Tax, b duty.Breakdown, inShillings decimal.Decimal) []line {
	return []line{
		{"importDutyInUSD", tax.ImportDutyInUSD, b.ImportDuty, cent},
		{"exiseDutyInUSD", tax.ExiseDutyInUSD, b.Excise, cent},
		{"exiseDutyDueToAgeInUSD", tax.ExiseDutyDueToAgeInUSD, b.AgeExcise, cent},
		{"customProcessingFeeInUSD", tax.CustomProcessingFeeInUSD, b.ProcessingFee, cent},
		{"railwayDevLevyInUSD", tax.RailwayDevLevyInUSD, b.RailwayLevy, cent},
		{"indDevLevy", tax.IndDevLevy, b.IndustrialLevy, cent},
		{"hivRespLevy", tax.HIVRespLevy, b.HIVLevy, cent},
		{"vehicleRegistrationFeeInTZS", tax.VehicleRegistrationFeeInTZS, b.Registration, cent},
		{"vatInUSD", tax.VATInUSD, b.VAT, cent},
		{"totalImportTaxesInUSD", tax.TotalImportTaxesInUSD, b.TotalUSD, cent},
		{"totalImportTaxesInTZS", tax.TotalImportTaxesInTZS, b.TotalTZS, inShillings},
		{"totalTaxesInTZS", tax.TotalTaxesInTZS, b.GrandTotalTZS, inShillings},
	}
}

// capacities returns engine sizes of a band, one of which must fit: both bounds,
// or the bound of an open band and the next size above it.
func capacities(band string) []int {
	switch sizes := vehicle.BandNumbers(band); len(sizes) {
	case 1:
		return append(sizes, sizes[0]+1)
	case 2:
		return sizes
	}
	return nil
}

// others matches the bodies of vehicles whose import duty differs from a car's.
var others = regexp.MustCompile(`(?i)\b(TRUCK|LORRY|TIPPER|TRACTOR|BUS|MINIBUS|MOTORCYCLE|TRAILER)\b`)

func otherVehicle(tax vehicle.Tax) bool {
	body := tax.ModelBody[strings.LastIndex(tax.ModelBody, " - ")+1:]
	return others.MatchString(tax.BodyType) || others.MatchString(body)
}

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
