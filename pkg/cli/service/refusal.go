package service

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/export"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// refusedBody is an error as the commands print it: that of the API, and the flag that it is about.
type refusedBody struct {
	vehicle.Error
	Flag string `json:"flag,omitempty"`
}

// printError prints an error of the API in its form and returns the exit status for it. Any
// other error is returned as it is.
func printError(s *Session, err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	return s.Refuse(refusedBody{vehicle.Error{
		Message: refused.Message, Code: refused.Code, Candidates: refused.Candidates, Car: refused.Car, Cars: refused.Cars,
		Param:   refused.Param,
		Request: refused.Request, Retryable: &refused.Retryable, RetryAfter: int(refused.RetryAfter.Seconds()),
	}, flagOf(refused)})
}

// flagOfCode and flagOfParam are the flags that help against an error of the API, which names
// the fields of its own requests. A field of an object has the flag of the object.
var (
	flagOfCode = map[string]string{
		"rows_invalid": "--skip", "unit_unclear": "--column", "jpy_rate_missing": "--jpy-per-usd", "listing_blocked": "--html",
		"host_busy": "--html", "robots_forbidden": "--html", "no_match": "--model-body", "ambiguous_match": "--model-body",
		"make_ambiguous": "--make", "listing_incomplete": "--known", "api_key_invalid": "--key",
	}
	flagOfParam = map[string]string{
		"rate": "--rate", "landing": "--landing", "costs": "--cost", "target": "--target", "known": "--known",
		"column": "--column", "modelBody": "--model-body", "model": "--model", "modelCode": "--model-code",
		"make": "--make", "year": "--year",
		"engine_cc": "--engine-cc", "fuel": "--fuel", "bodyType": "--body-type", "version": "--version", "m3": "--m3",
		"fobPriceUSD": "--fob", "cfPriceUSD": "--cf", "fobPriceJPY": "--fob-jpy", "cfPriceJPY": "--cf-jpy",
		"jpyPerUSD": "--jpy-per-usd", "html": "--html", "date": "--date", "sort": "--sort", "lang": "--lang", "limit": "--limit",
		"events": "--events",
	}
)

// flagOf returns the flag that an error is about; "" when no flag helps.
func flagOf(refused *client.Error) string {
	param, _, _ := strings.Cut(refused.Param, ".")
	return cmp.Or(flagOfParam[param], flagOfCode[refused.Code])
}

// printUnpriced prints the error of a request for an estimate: as CSV in the row of the car, else
// as printRefusal does.
func printUnpriced(s *Session, err error, listing string, as outputOptions) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || !as.CSV() {
		return printRefusal(s, err, as)
	}
	row := export.Line{
		URL: listing, State: batch.Failed, Code: refused.Code, Reason: translated(as.Lang, refused.Text, refused.Message),
		Car: refused.Car,
	}
	return errors.Join(printRow(s, as.Lang, row), console.ExitError{Status: console.ExitRefused})
}

// printRefusal prints the error of a request: as text where the answer would be text, and
// otherwise as printError does.
func printRefusal(s *Session, err error, as outputOptions) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || !as.Text() {
		return printError(s, err)
	}
	if err := writeRefusal(s.Err, refused, as.Lang); err != nil {
		return err
	}
	return console.ExitError{Status: console.ExitRefused}
}

// refusalWords are the words of a refusal in English and Kiswahili.
func refusalWords(key string) vehicle.Text { return message.Say("refusal/"+key, nil) }

// writeRefusal writes why there is no estimate, what was read of the car, the
// candidates, and what to do next.
func writeRefusal(w io.Writer, refused *client.Error, lang string) error {
	var b strings.Builder
	_, _ = fmt.Fprintln(&b, console.Printable(translated(lang, refused.Text, refused.Message)))
	if refused.Car != nil {
		writeReadCar(&b, *refused.Car, lang)
	}
	if len(refused.Candidates) > 0 {
		writeCandidates(&b, refused.Candidates, lang)
		_, _ = fmt.Fprintf(&b, "\n%s\n  --model-body %s\n", in(lang, refusalWords("choose")),
			console.ShellQuote(console.Printable(refused.Candidates[0].ModelBody)))
	}
	for _, car := range refused.Cars {
		_, _ = fmt.Fprintf(&b, "  %s\n    %s\n", console.Printable(car.Shown()), console.Printable(car.URL))
	}
	switch refused.Code {
	case "ai_unavailable":
		_, _ = fmt.Fprintf(&b, "\n%s\n", in(lang, refusalWords("later")))
	case "listing_incomplete":
		_, _ = fmt.Fprintf(&b, "\n%s\n  --known '{\"year\": 2016}'\n", in(lang, refusalWords("known")))
	}
	if flag := flagOf(refused); flag != "" && !strings.Contains(b.String(), flag) {
		_, _ = fmt.Fprintf(&b, "\n%s\n", message.Say("refusal/flag", message.Values{"flag": flag}).In(lang))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeReadCar writes the car as far as it was read.
func writeReadCar(w io.Writer, car vehicle.Car, lang string) {
	_, _ = fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name vehicle.Text, parts ...string) {
		if text := console.Printable(strings.Join(nonEmpty(parts), ", ")); text != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", in(lang, name), text)
		}
	}
	line(message.Say("table/car", nil), console.OneLine(car.Make, car.Model, car.RawModelCode, car.Version), car.BodyType)
	line(refusalWords("stated"), number(car.Year, ""), number(car.EngineCC, " cc"), car.Fuel)
	var fob, cf string
	if car.FOBPriceUSD != nil {
		fob = "FOB USD " + car.FOBPriceUSD.String()
	}
	if car.CFPriceUSD != nil {
		cf = "C&F USD " + car.CFPriceUSD.String()
	}
	line(refusalWords("price"), fob, cf)
	_ = table.Flush()
}

// writeCandidates writes each candidate in two lines: the entry, and what agrees
// with the car and what does not.
func writeCandidates(w io.Writer, candidates []vehicle.Candidate, lang string) {
	_, _ = fmt.Fprintf(w, "\n%s\n", in(lang, refusalWords("which")))
	for i, c := range candidates {
		facts := []string{
			number(c.EngineCC, " cc"), fuelWord(c.Fuel, lang), madeIn(c, lang),
			in(lang, refusalWords(string(c.Nearness))),
		}
		if c.TotalTaxesInTZS != nil {
			facts = append(facts, in(lang, refusalWords("taxes"))+" TZS "+c.TotalTaxesInTZS.String())
		}
		_, _ = fmt.Fprintf(w, "%3d  %s\n     %s\n", i+1, console.Printable(c.Make+": "+c.ModelBody),
			console.Printable(strings.Join(nonEmpty(facts), ", ")))
		if why := console.Printable(translated(lang, c.Text, c.Why)); why != "" {
			_, _ = fmt.Fprintf(w, "     %s\n", why)
		}
	}
}

// madeIn returns the years in which the cars of a candidate were made.
func madeIn(c vehicle.Candidate, lang string) string {
	switch {
	case c.YearFrom == 0:
		return number(c.YearTo, "")
	case c.YearTo == 0:
		return fmt.Sprintf("%d – (%s)", c.YearFrom, in(lang, refusalWords("now")))
	}
	return fmt.Sprintf("%d – %d", c.YearFrom, c.YearTo)
}

func fuelWord(fuel, lang string) string {
	if fuel == "" {
		return ""
	}
	return message.Word(fuel).In(lang)
}

// number returns a number with its unit; "" when it is not known.
func number(n int, unit string) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + unit
}

func nonEmpty(parts []string) (kept []string) {
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return kept
}
