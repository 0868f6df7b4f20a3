package tra

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// sumTolerance allows for rounded lines: seven lines and their total stay within
// 0.04.
var sumTolerance = decimal.RequireFromString("0.05")

// checkSums compares the totals with their lines. The unit of the industrial
// levy is not known: it may belong to either sum.
func checkSums(tax vehicle.Tax) (warnings []vehicle.Warning) {
	sum := func(lines ...money.Amount) (total decimal.Decimal) {
		for _, line := range lines {
			total = total.Add(line.Decimal())
		}
		return total
	}
	levy := tax.IndDevLevy.Decimal()
	usd := sum(tax.ImportDutyInUSD, tax.ExiseDutyInUSD, tax.ExiseDutyDueToAgeInUSD, tax.VATInUSD,
		tax.CustomProcessingFeeInUSD, tax.RailwayDevLevyInUSD)
	tzs := sum(tax.TotalImportTaxesInTZS, tax.HIVRespLevy, tax.VehicleRegistrationFeeInTZS)
	totalUSD, totalTZS := tax.TotalImportTaxesInUSD.Decimal(), tax.TotalTaxesInTZS.Decimal()

	levyInTZS := near(usd, totalUSD) && near(tzs.Add(levy), totalTZS)
	if !near(usd.Add(levy), totalUSD) && !levyInTZS {
		warnings = append(warnings, message.New("warning/"+WarnSumUSD, nil))
	}
	if !near(tzs, totalTZS) && !levyInTZS {
		warnings = append(warnings, message.New("warning/"+WarnSumTZS, nil))
	}
	return warnings
}

func near(a, b decimal.Decimal) bool { return a.Sub(b).Abs().LessThanOrEqual(sumTolerance) }
