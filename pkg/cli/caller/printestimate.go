package caller

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// PrintEstimate writes an estimate as text.
func PrintEstimate(w io.Writer, e *vehicle.Estimate) {
	car, matched, tax := e.Car, e.Matched, e.Tax
	if strings.HasPrefix(tax.ReferenceNumber, "SIM") {
		_, _ = fmt.Fprint(w, "*** SIMULATED: listing, authority and figures are not real ***\n\n")
	}
	if e.Summary != nil {
		writeSummary(w, *e.Summary, e.MaxPrice, message.English)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, values ...any) {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	line("Listing", "%s", e.Input.URL)
	line("Car", "%d %s %s %s", car.Year, car.Make, car.Model, car.Version)
	line("", "%s, %d cc, %s", car.RawModelCode, car.EngineCC, car.Fuel)
	line("Price", "FOB %s, C&F Dar es Salaam %s", price(car.FOBPriceUSD), price(car.CFPriceUSD))
	line("TRA entry", "%s %s", matched.Make, matched.ModelBody)
	line("", "%d, %s, %s, %s", matched.YOM, matched.Country, matched.FuelType, matched.CapacityBand)
	line("Match", "%s, confidence %s: %s", matched.MatchType, matched.Confidence, matched.MatchReason)
	for _, a := range matched.Adjustments {
		line("Adjusted", "%s: %v → %v (%s)", a.Field, a.From, a.To, a.Reason)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
	printTax(w, tax)
	printDriveAway(w, e.DriveAway)
	for _, warning := range e.Warnings {
		_, _ = fmt.Fprintf(w, "\n! %s\n", warning.Message)
	}
}

func printTax(w io.Writer, tax vehicle.Tax) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name, currency string, amount money.Amount) {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t\n", name, currency, amount)
	}
	line("TRA's CIF value", "USD", tax.CIFInUSD)
	line("Import duty", "USD", tax.ImportDutyInUSD)
	line("Excise duty", "USD", tax.ExiseDutyInUSD)
	line("Excise duty due to age", "USD", tax.ExiseDutyDueToAgeInUSD)
	line("VAT", "USD", tax.VATInUSD)
	line("Customs processing fee", "USD", tax.CustomProcessingFeeInUSD)
	line("Railway development levy", "USD", tax.RailwayDevLevyInUSD)
	line("Total import taxes", "USD", tax.TotalImportTaxesInUSD)
	line("Total import taxes", "TZS", tax.TotalImportTaxesInTZS)
	line("HIV response levy", "TZS", tax.HIVRespLevy)
	line("Registration", "TZS", tax.VehicleRegistrationFeeInTZS)
	line("TOTAL", "TZS", tax.TotalTaxesInTZS)
	_ = table.Flush()
	_, _ = fmt.Fprintf(w, "Reference %s, TRA's quarter %d of %d\n", tax.ReferenceNumber, tax.Quarter, tax.Year)
}

// printDriveAway writes the total cost of the car, if it was calculated.
func printDriveAway(w io.Writer, d *vehicle.DriveAway) {
	if d == nil {
		return
	}
	_, _ = fmt.Fprint(w, "\nOn the road in Dar es Salaam\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range d.Lines {
		_, _ = fmt.Fprintf(table, "%s\tUSD\t%s\tTZS\t%s\t%s\t\n", l.Name.EN, l.AmountUSD, l.AmountTZS, l.Standing)
	}
	_, _ = fmt.Fprintf(table, "TOTAL\tUSD\t%s\tTZS\t%s\t\t\n", d.TotalUSD, d.TotalTZS)
	_, _ = fmt.Fprintf(table, "from\tUSD\t%s\tTZS\t%s\t\t\n", d.LowUSD, d.LowTZS)
	_, _ = fmt.Fprintf(table, "to\tUSD\t%s\tTZS\t%s\t\t\n", d.HighUSD, d.HighTZS)
	_ = table.Flush()
	for _, missing := range d.Missing {
		_, _ = fmt.Fprintf(w, "Not included: %s: %s\n", missing.Name.EN, missing.Reason)
	}
}

func price(p *money.Number) string {
	if p == nil {
		return "not given"
	}
	return "USD " + p.String()
}
