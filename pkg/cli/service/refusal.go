package service

import (
	"cmp"
	_ "embed" // the table of flags
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/datatable"
	"ushuru/pkg/export"
	"ushuru/pkg/message"
)

// refusedBody is an error as the commands print it: that of the API, and the flag that it is about.
type refusedBody struct {
	client.Body

	Flag string `json:"flag,omitempty"`
}

// printError prints an error of the API in its form and returns the exit status for it. Any
// other error is returned as it is.
func printError(s *Session, err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	said := refused.Body
	said.Text, said.Values, said.WaitingFor, said.Job = nil, nil, "", "" // those of a job have more
	if said.Retryable == nil {
		said.Retryable = new(bool)
	}
	return s.Refuse(refusedBody{said, flagOf(refused)})
}

//go:embed flags.csv
var flagsFile string

// flagsFor are the flags that help against an error of the API, by "param/" or "code/" and its name.
var flagsFor = sync.OnceValue(func() map[string]string {
	flags := map[string]string{}
	for _, row := range datatable.Rows(flagsFile) {
		flags[row[0]+"/"+row[1]] = row[2]
	}
	return flags
})

// flagOf returns the flag that an error is about; "" when no flag helps.
func flagOf(refused *client.Error) string {
	param, _, _ := strings.Cut(refused.Param, ".")
	return cmp.Or(flagsFor()["param/"+param], flagsFor()["code/"+refused.Code])
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
