package service

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// word returns a word of the table in a language.
func word(key, lang string) string { return message.Say("table/"+key, nil).In(lang) }

// in returns a text in a language of the table.
func in(lang string, text vehicle.Text) string {
	if lang == message.Swahili {
		return text.SW
	}
	return text.EN
}

// translated returns a sentence in a language; one that has no translation is English.
func translated(lang string, text *message.Text, english string) string {
	if text == nil {
		return english
	}
	return text.In(lang)
}

// Print writes an estimate with its drive-away cost as text, in a language.
func Print(w io.Writer, e vehicle.Estimate, lang string) error {
	var b strings.Builder
	if strings.HasPrefix(e.Tax.ReferenceNumber, "SIM") {
		_, _ = fmt.Fprintf(&b, "*** %s ***\n\n", word("simulated", lang))
	}
	if e.Summary != nil {
		printSummary(&b, *e.Summary, e.MaxPrice, lang)
	}
	head := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(name, format string, values ...any) {
		_, _ = fmt.Fprintf(head, "%s\t%s\n", word(name, lang), fmt.Sprintf(format, values...))
	}
	if e.Input.URL != "" {
		line("listing", "%s", e.Input.URL)
	}
	line("car", "%s", console.OneLine(strconv.Itoa(e.Car.Year), e.Car.Make, e.Car.Model,
		e.Car.ModelCode, e.Car.Version, e.Car.Fuel))
	line("authority", "%s %s, %d, %s, %s", e.Matched.Make, e.Matched.ModelBody, e.Matched.YOM, e.Matched.FuelType,
		e.Matched.CapacityBand)
	line("match", "%s", message.Say("table/confidence", message.Values{
		"confidence": string(e.Matched.Confidence), "said": translated(lang, e.Matched.Text, e.Matched.MatchReason),
	}).In(lang))
	for _, a := range e.Matched.Adjustments {
		line("adjusted", "%s: %v → %v", message.Word(a.Field).In(lang), a.From, a.To)
	}
	if e.ValidUntil != "" {
		line("valid", "%s", e.ValidUntil)
	}
	_ = head.Flush()
	if e.DriveAway != nil {
		printCost(&b, *e.DriveAway, lang)
	}
	printTax(&b, e.Tax, lang)
	for _, doubt := range e.Doubts {
		_, _ = fmt.Fprintf(&b, "\n! %s\n", doubt.Text.In(lang))
		if doubt.Ask != nil {
			_, _ = fmt.Fprintf(&b, "  %s\n", doubt.Ask.In(lang))
		}
	}
	for _, warning := range e.Warnings {
		mark := "!"
		if warning.Level == message.Info {
			mark = "-"
		}
		_, _ = fmt.Fprintf(&b, "\n%s %s\n", mark, warning.In(lang))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printSummary writes the number to act on with its three parts, and what to ask the
// seller.
func printSummary(w io.Writer, s vehicle.Summary, highest *vehicle.MaxPrice, lang string) {
	_, _ = fmt.Fprintf(w, "%s\n\n", s.Text.In(lang))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, text string) { _, _ = fmt.Fprintf(table, "%s\t%s\n", name, text) }
	part := func(key string, sum *vehicle.Sum) { line(word(key, lang), sumText(sum, lang)) }
	var taxes *vehicle.Sum
	if s.Taxes != nil {
		taxes = &s.Taxes.Sum
	}
	part("car_and_shipping", s.CarAndShipping)
	part("taxes", taxes)
	part("port_and_local", s.PortAndLocal)
	if s.PortAndTaxesOnly != nil {
		part("port_and_taxes", s.PortAndTaxesOnly)
	}
	part("on_the_road", s.OnTheRoad)
	if by := s.IfLandedBy; by != nil {
		line(message.Say("table/landed_by", message.Values{"date": by.Date}).In(lang), sumText(by.OnTheRoad, lang))
	}
	line(word("authority_today", lang), message.Say("table/authority_sum", message.Values{
		"tzs": strconv.FormatInt(s.AuthorityTaxes.TZS, 10), "why": s.AuthorityTaxes.Why.In(lang),
	}).In(lang))
	if highest != nil {
		line(message.Say("table/max_price", message.Values{"tzs": strconv.FormatInt(highest.TargetTZS, 10)}).In(lang),
			message.Say("table/max_prices", message.Values{
				"fob": likelyPrice(highest.FOB, lang), "cf": likelyPrice(highest.CF, lang),
			}).In(lang))
	}
	_ = table.Flush()
	if len(s.Ask) > 0 {
		_, _ = fmt.Fprintf(w, "\n%s\n", word("ask", lang))
	}
	for i, question := range s.Ask {
		_, _ = fmt.Fprintf(w, "  %d. %s\n", i+1, question.Text.In(lang))
	}
	_, _ = fmt.Fprintln(w)
}

// sumText returns a sum with its range as people say it.
func sumText(sum *vehicle.Sum, lang string) string {
	if sum == nil {
		return word("not_known", lang)
	}
	return message.Say("table/sum", message.Values{
		"tzs": strconv.FormatInt(sum.TZS, 10), "low": strconv.FormatInt(sum.LowTZS, 10),
		"high": strconv.FormatInt(sum.HighTZS, 10), "usd": strconv.FormatInt(sum.USD, 10),
	}).In(lang)
}

// likelyPrice returns the price at which the likely cost meets a target.
func likelyPrice(limits *vehicle.PriceLimits, lang string) string {
	if limits == nil || limits.Likely == nil {
		return word("not_known", lang)
	}
	return "USD " + strconv.FormatInt(*limits.Likely, 10)
}

// printCost writes the lines of a drive-away cost and their total.
func printCost(w io.Writer, cost vehicle.DriveAway, lang string) {
	_, _ = fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(table, "\tUSD\tTZS\t\n")
	for _, l := range cost.Lines {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t\n", in(lang, l.Name), l.AmountUSD, l.AmountTZS)
	}
	_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t\n", word("total", lang), cost.TotalUSD, cost.TotalTZS)
	_ = table.Flush()
	_, _ = fmt.Fprintf(w, "%s: USD %s – %s, TZS %s – %s\n",
		word("range", lang), cost.LowUSD, cost.HighUSD, cost.LowTZS, cost.HighTZS)
	_, _ = fmt.Fprintf(w, "%s: %s (TRA), %s\n", word("rate", lang), cost.Exchange.Taxes, cost.Exchange.Others)
	for _, m := range cost.Missing {
		_, _ = fmt.Fprintf(w, "%s: %s\n", word("missing", lang), in(lang, m.Name))
	}
}

// printTax writes the authority's own answer: the taxes of a car that is taxed today.
func printTax(w io.Writer, tax vehicle.Tax, lang string) {
	_, _ = fmt.Fprintf(w, "\n%s\n", message.Say("table/authority_answer", message.Values{
		"reference": tax.ReferenceNumber, "quarter": strconv.Itoa(tax.Quarter), "year": strconv.Itoa(tax.Year),
	}).In(lang))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range []struct {
		name, currency string
		amount         money.Amount
	}{
		{"tax_value", "USD", tax.CIFInUSD},
		{"tax_import", "USD", tax.ImportDutyInUSD},
		{"tax_excise", "USD", tax.ExiseDutyInUSD},
		{"tax_age", "USD", tax.ExiseDutyDueToAgeInUSD},
		{"tax_vat", "USD", tax.VATInUSD},
		{"tax_fee", "USD", tax.CustomProcessingFeeInUSD},
		{"tax_railway", "USD", tax.RailwayDevLevyInUSD},
		{"tax_all_import", "USD", tax.TotalImportTaxesInUSD},
		{"tax_all_import", "TZS", tax.TotalImportTaxesInTZS},
		{"tax_hiv", "TZS", tax.HIVRespLevy},
		{"tax_registration", "TZS", tax.VehicleRegistrationFeeInTZS},
		{"tax_total", "TZS", tax.TotalTaxesInTZS},
	} {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t\n", word(line.name, lang), line.currency, line.amount)
	}
	_ = table.Flush()
}
