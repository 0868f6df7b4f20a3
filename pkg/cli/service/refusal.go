package service

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

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

// writeRefusal writes why there is no estimate, what was read of the car, the
// candidates, and what to do next.
func writeRefusal(w io.Writer, refused *client.Error, lang string) error {
	var b strings.Builder
	if err := write(&b, lang, 0, refused, "refusal"); err != nil {
		return err
	}
	if flag := flagOf(refused); flag != "" && !strings.Contains(b.String(), flag) {
		_, _ = fmt.Fprintf(&b, "\n%s\n", message.Say("refusal/flag", message.Values{"flag": flag}).In(lang))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
