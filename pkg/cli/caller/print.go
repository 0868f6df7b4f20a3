package caller

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"text/template"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/client"
	"ushuru/pkg/export"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

//go:embed templates
var templates embed.FS

// write writes a text of the templates in a language, as console.Execute does.
func write(w io.Writer, lang, name string, data any, flags uint) error {
	texts, err := template.New("").Funcs(functions(lang)).ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return err
	}
	return console.Execute(w, texts, name, data, flags)
}

// speaker is what has a text in each language.
type speaker interface{ In(lang string) string }

// functions are what the templates call.
func functions(lang string) template.FuncMap {
	say := func(key string, pairs ...any) string {
		values := message.Values{}
		for i := 0; i+1 < len(pairs); i += 2 {
			values[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
		}
		return message.Say(key, values).In(lang)
	}
	word := func(key string) string { return say("table/" + key) }
	refusal := func(key any) string { return say(fmt.Sprint("refusal/", key)) }
	return template.FuncMap{
		"say": say, "word": word, "refusal": refusal, "printable": console.Printable, "quote": console.ShellQuote,
		"in":         func(text speaker) string { return text.In(lang) },
		"translated": func(text *message.Text, english string) string { return translated(lang, text, english) },
		"term":       func(word string) string { return message.Word(word).In(lang) },
		"simulated":  func(tax vehicle.Tax) bool { return strings.HasPrefix(tax.ReferenceNumber, "SIM") },
		"inc":        func(i int) int { return i + 1 },
		"likely": func(limits *vehicle.PriceLimits) string {
			if limits == nil || limits.Likely == nil {
				return word("not_known")
			}
			return fmt.Sprint("USD ", *limits.Likely)
		},
		"line": func(parts ...any) string { return console.OneLine(given(parts)...) },
		"list": list,
		"fact": func(name string, parts ...any) string {
			if text := list(parts...); text != "" {
				return name + "\t" + text + "\n"
			}
			return ""
		},
		"made": func(c vehicle.Candidate) string {
			switch {
			case c.YearFrom == 0:
				return list(c.YearTo)
			case c.YearTo == 0:
				return fmt.Sprintf("%d – (%s)", c.YearFrom, refusal("now"))
			}
			return fmt.Sprintf("%d – %d", c.YearFrom, c.YearTo)
		},
	}
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
	if err := write(w, lang, "estimate", e, 0); err != nil {
		return err
	}
	if err := write(w, lang, "figures", e, tabwriter.AlignRight); err != nil {
		return err
	}
	return write(w, lang, "remarks", e, 0)
}

// list returns the parts that are not empty or zero, by commas, as text that is safe to print.
func list(parts ...any) string { return console.Printable(strings.Join(given(parts), ", ")) }

// given returns the texts of the parts that are not empty or zero.
func given(parts []any) (texts []string) {
	for _, part := range parts {
		if is, _ := template.IsTrue(part); is {
			texts = append(texts, fmt.Sprint(part))
		}
	}
	return texts
}

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
