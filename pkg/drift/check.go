// Package drift notices when the authority's answers no longer follow the
// dated tax rules: when a Finance Act has changed them before our table. The
// authority's figures stand in any case; what drifts is our knowledge.
package drift

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Result is what comes of an answer.
type Result struct {
	// Judged is false for an answer that the rules say nothing about: a lorry
	// or bus, which pay other rates, or a capacity band that cannot be read.
	Judged bool
	Rules  string // first day of the rules in force
	// AgreesWith are the first days of the rules that give every line of the
	// answer: those in force, those before them, both or none.
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

// Check reckons an answer anew, from its own value and exchange rate, by the
// rules in force on the day it was given and by those before them. Figures
// agree when they are within a cent; in shillings, within what a cent costs.
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

// fewest are the differences under the reading of the rules that comes nearest:
// a band holds more than one engine size, and the excise at some ages is
// disputed.
func fewest(tax vehicle.Tax, rules duty.Rules, sizes []int, age int, fx decimal.Decimal) []Difference {
	var best []Difference
	for i, cc := range sizes {
		car := duty.Vehicle{CC: cc, Fuel: tax.FuelType, Age: age}
		statute, practice := rules.AgeRates(car)
		for j, rate := range []decimal.Decimal{statute, practice} {
			reading := rules
			reading.AgeExcise = []duty.AgeBand{{Rate: rate}}
			found := differences(tax, reading.Compute(car, tax.CIFInUSD.Decimal(), fx), fx)
			if i+j == 0 || len(found) < len(best) {
				best = found
			}
		}
	}
	return best
}

var cent = decimal.New(1, -2)

// differences compares line by line.
func differences(tax vehicle.Tax, b duty.Breakdown, fx decimal.Decimal) (found []Difference) {
	inShillings := cent.Mul(fx)
	for _, line := range []struct {
		name                string
		authority, computed money.Amount
		within              decimal.Decimal
	}{
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
	} {
		if line.authority.Decimal().Sub(line.computed.Decimal()).Abs().GreaterThan(line.within) {
			computed := money.New(line.computed.Decimal().Round(2))
			found = append(found, Difference{Line: line.name, Authority: line.authority, Computed: computed})
		}
	}
	return found
}

var digits = regexp.MustCompile(`\d{1,6}`)

// capacities are engine sizes of a band, of which one must fit: both ends, or
// the end and the next above it of one that has no other.
func capacities(band string) (sizes []int) {
	for _, text := range digits.FindAllString(strings.ReplaceAll(band, ",", ""), 3) {
		n, _ := strconv.Atoi(text) // six digits at most
		sizes = append(sizes, n)
	}
	switch len(sizes) {
	case 1:
		return append(sizes, sizes[0]+1)
	case 2:
		return sizes
	default:
		return nil
	}
}

// others are words in the body of a vehicle whose import duty is not a car's.
var others = regexp.MustCompile(`(?i)\b(TRUCK|LORRY|TIPPER|TRACTOR|BUS|MINIBUS|MOTORCYCLE|TRAILER)\b`)

func otherVehicle(tax vehicle.Tax) bool {
	body := tax.ModelBody[strings.LastIndex(tax.ModelBody, " - ")+1:]
	return others.MatchString(tax.BodyType) || others.MatchString(body)
}
