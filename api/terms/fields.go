package terms

import (
	"encoding/json"
	"strings"

	"ushuru/api/request"
	"ushuru/pkg/vehicle"
)

// The members of an estimate that the specification names.
const contractOfEstimate = "input,car.make,car.model,car.modelCode,car.rawModelCode,car.version,car.year,car.engine_cc," +
	"car.fuel,car.fobPriceUSD,car.cfPriceUSD,car.images,car.conditionReportUrl," +
	"matched.make,matched.makeId,matched.modelBody,matched.matchType,matched.matchReason,matched.confidence," +
	"matched.adjustments.field,matched.adjustments.from,matched.adjustments.to,matched.adjustments.reason," +
	"matched.yom,matched.country,matched.fuelType,matched.capacityBand,tax,cached"

// longInEstimate are the members that an estimate has only for a caller who names them, or all:
// on what each line of the cost rests and its range, the cost by each answer to an open
// question, values that are in the sentences, and what the summary says too.
const longInEstimate = "driveAway.lines.basis,driveAway.lines.basisText,driveAway.lines.basisParts," +
	"driveAway.lines.source,driveAway.lines.sourceText,driveAway.lines.lowUSD,driveAway.lines.highUSD," +
	"driveAway.lines.lowTZS,driveAway.lines.highTZS,driveAway.lines.estimated," +
	"driveAway.lines.paidIn,driveAway.scenarios,driveAway.taxBase,driveAway.ageStep," +
	"driveAway.landing,matched.values,matched.adjustments.values," +
	"summary.text.values,summary.taxes.why.values,summary.authorityTaxes.why.values,summary.landing.basis.values," +
	"summary.exchange.text.values,summary.notIncluded.text.values,summary.pay"

// explained is an estimate with the source of each value.
type explained struct {
	vehicle.Quote

	Explain   json.RawMessage `json:"explain"`
	Notes     json.RawMessage `json:"notes"`
	NoteTexts json.RawMessage `json:"noteTexts"`
}

// The members of each kind of result.
var (
	OfEstimate = FieldSets{Of: explained{}, Contract: contractOfEstimate, Usual: request.AllBut(longInEstimate)}
	OfRow      = FieldSets{
		Of: explained{}, Contract: contractOfEstimate, Usual: request.Only(contractOfEstimate + "," + summaryOfRow),
	}
	OfComparison = FieldSets{
		Of:       vehicle.Comparison{},
		Contract: ofBoth(contractOfEstimate) + ",condReport1,condReport2,recommendation,cached",
		Usual:    request.AllBut(ofBoth(longInEstimate)),
	}
	OfReport = FieldSets{Of: vehicle.ConditionReport{}, Contract: "summary,cached"}
)

// summaryOfRow are the members that a row of a batch has beside those of the specification.
const summaryOfRow = "summary,driveAway.totalUSD,driveAway.totalTZS,driveAway.lowUSD,driveAway.highUSD,driveAway.lowTZS," +
	"driveAway.highTZS,driveAway.complete,maxPriceUSD,asOf"

// ofBoth returns members of the estimates of a comparison.
func ofBoth(list string) string {
	return "car1." + strings.ReplaceAll(list, ",", ",car1.") + ",car2." + strings.ReplaceAll(list, ",", ",car2.")
}
