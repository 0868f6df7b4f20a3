package caller

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// writeSummary writes the number to act on with its three parts, and what to ask the
// seller.
func writeSummary(w io.Writer, s vehicle.Summary, highest *vehicle.MaxPrice, lang string) {
	_, _ = fmt.Fprintf(w, "%s\n\n", s.Text.In(lang))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, text string) { _, _ = fmt.Fprintf(table, "%s\t%s\n", name, text) }
	part := func(key string, sum *vehicle.Sum) { line(tableWord(key, lang), sumText(sum, lang)) }
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
	line(tableWord("authority_today", lang), message.Say("table/authority_sum", message.Values{
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
		_, _ = fmt.Fprintf(w, "\n%s\n", tableWord("ask", lang))
	}
	for i, question := range s.Ask {
		_, _ = fmt.Fprintf(w, "  %d. %s\n", i+1, question.Text.In(lang))
	}
	_, _ = fmt.Fprintln(w)
}

// sumText returns a sum with its range as people say it.
func sumText(sum *vehicle.Sum, lang string) string {
	if sum == nil {
		return tableWord("not_known", lang)
	}
	return message.Say("table/sum", message.Values{
		"tzs": strconv.FormatInt(sum.TZS, 10), "low": strconv.FormatInt(sum.LowTZS, 10),
		"high": strconv.FormatInt(sum.HighTZS, 10), "usd": strconv.FormatInt(sum.USD, 10),
	}).In(lang)
}

// likelyPrice returns the price at which the likely cost meets a target.
func likelyPrice(limits *vehicle.PriceLimits, lang string) string {
	if limits == nil || limits.Likely == nil {
		return tableWord("not_known", lang)
	}
	return "USD " + strconv.FormatInt(*limits.Likely, 10)
}
