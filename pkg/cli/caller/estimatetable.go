package caller

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// tableWord returns a word of the table in a language.
func tableWord(key, lang string) string { return message.Say("table/"+key, nil).In(lang) }

// in returns a text in a language of the table.
func in(lang string, text vehicle.Text) string {
	if lang == "sw" {
		return text.SW
	}
	return text.EN
}

// said returns a sentence in a language; a server of an earlier version gives it in
// English only.
func said(lang string, text *message.Text, english string) string {
	if text == nil {
		return english
	}
	return text.In(lang)
}

// writeTable writes an estimate with its drive-away cost as text.
func writeTable(w io.Writer, e vehicle.Estimate, lang string) error {
	word := func(key string) string { return tableWord(key, lang) }
	var b strings.Builder
	if strings.HasPrefix(e.Tax.ReferenceNumber, "SIM") {
		_, _ = fmt.Fprintf(&b, "*** %s ***\n\n", word("simulated"))
	}
	if e.Summary != nil {
		writeSummary(&b, *e.Summary, e.MaxPrice, lang)
	}
	head := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(name, format string, values ...any) {
		_, _ = fmt.Fprintf(head, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	if e.Input.URL != "" {
		line(word("listing"), "%s", e.Input.URL)
	}
	line(word("car"), "%s", console.OneLine(strconv.Itoa(e.Car.Year), e.Car.Make, e.Car.Model,
		e.Car.ModelCode, e.Car.Version, e.Car.Fuel))
	line(word("authority"), "%s %s, %d, %s, %s", e.Matched.Make, e.Matched.ModelBody, e.Matched.YOM, e.Matched.FuelType,
		e.Matched.CapacityBand)
	line(word("match"), "%s", message.Say("table/confidence", message.Values{
		"confidence": string(e.Matched.Confidence), "said": said(lang, e.Matched.Text, e.Matched.MatchReason),
	}).In(lang))
	for _, a := range e.Matched.Adjustments {
		line(word("adjusted"), "%s: %v → %v", message.Word(a.Field).In(lang), a.From, a.To)
	}
	if e.ValidUntil != "" {
		line(word("valid"), "%s", e.ValidUntil)
	}
	_ = head.Flush()
	if e.DriveAway != nil {
		writeCost(&b, *e.DriveAway, lang)
	} else {
		_, _ = fmt.Fprintln(&b)
		printTax(&b, e.Tax)
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

// writeCost writes the lines of a drive-away cost and their total.
func writeCost(w io.Writer, cost vehicle.DriveAway, lang string) {
	word := func(key string) string { return tableWord(key, lang) }
	_, _ = fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(table, "\tUSD\tTZS\t\n")
	for _, l := range cost.Lines {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t\n", in(lang, l.Name), l.AmountUSD, l.AmountTZS)
	}
	_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t\n", word("total"), cost.TotalUSD, cost.TotalTZS)
	_ = table.Flush()
	_, _ = fmt.Fprintf(w, "%s: USD %s – %s, TZS %s – %s\n", word("range"), cost.LowUSD, cost.HighUSD, cost.LowTZS, cost.HighTZS)
	_, _ = fmt.Fprintf(w, "%s: %s (TRA), %s\n", word("rate"), cost.Exchange.Taxes, cost.Exchange.Others)
	for _, m := range cost.Missing {
		_, _ = fmt.Fprintf(w, "%s: %s\n", word("missing"), in(lang, m.Name))
	}
}
