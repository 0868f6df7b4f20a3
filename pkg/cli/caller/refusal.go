package caller

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/client"
	"ushuru/pkg/export"
	"ushuru/pkg/message"
)

// printUnpriced prints the error of a request for an estimate: as CSV in the row of the car, else
// as printRefusal does.
func printUnpriced(s *service.Session, err error, listing string, as outputOptions) error {
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
// otherwise as Session.PrintError does.
func printRefusal(s *service.Session, err error, as outputOptions) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || !as.Text() {
		return s.PrintError(err)
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
	if err := write(&b, lang, "refusal", refused, 0); err != nil {
		return err
	}
	if flag := service.FlagOf(refused); flag != "" && !strings.Contains(b.String(), flag) {
		_, _ = fmt.Fprintf(&b, "\n%s\n", message.Say("refusal/flag", message.Values{"flag": flag}).In(lang))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
