package service

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/drift"
	"ushuru/pkg/jobs"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
)

// Status prints whether the API and TRA's calculator can be asked; as the operator, what
// the console shows.
type Status struct{ target }

// Run is called by kong. As the operator it exits with 1 when urgent work stands still, so
// that a watchdog can call it.
func (c *Status) Run(s *Session) error {
	return c.run(s, c.ofAPI, func(ctx context.Context, o *operate.Operator) (console.Printed, error) {
		now, err := o.Status(ctx)
		if err != nil {
			return nil, err
		}
		return func(_ console.Streams, f console.Format) error {
			if err := s.printStatus(f, &now); err != nil {
				return err
			}
			if slices.ContainsFunc(now.Needs, func(n status.Need) bool { return n.Urgent }) {
				return console.ExitError{Status: console.ExitFailure}
			}
			return nil
		}, nil
	})
}

// ofAPI reads what the API says.
func (c *Status) ofAPI(ctx context.Context, api *client.Client) (console.Printed, error) {
	if err := api.Ready(ctx); err != nil {
		return nil, err
	}
	tra, err := api.TRAStatus(ctx)
	if err != nil {
		return nil, err
	}
	rules := "not checked yet"
	switch {
	case tra.Details.RulesAgree == nil:
	case *tra.Details.RulesAgree:
		rules = fmt.Sprintf("as its answers (%d checked)", tra.Details.Checked)
	default:
		rules = fmt.Sprintf("differ from its answers (%d of %d)", tra.Details.Differed, tra.Details.Checked)
	}
	return console.Record(tra, "API", c.APIURL+": ready", "TRA", console.OneLine(tra.Status, tra.Reason, tra.Message),
		"Latency", time.Duration(tra.LatencyMs)*time.Millisecond, "Last answer", tra.LastSuccessAt,
		"Last failure", console.OneLine(console.Text(tra.LastFailureAt), tra.ErrorKind), "Tax rules", rules), nil
}

// printStatus prints the status as JSON, or as tables of which empty ones are left out.
func (s *Session) printStatus(f console.Format, now *status.Status) error {
	switch {
	case f.JSON():
		return console.WriteJSON(s.Out, now)
	case f.CSV():
		return console.Answer{Output: "csv"}.Print(s.Streams, now)
	}
	text, err := template.New("").Funcs(statusFunctions).ParseFS(templates, "templates/status.tmpl")
	if err != nil {
		return err
	}
	return console.Execute(s.Out, text, "status", now, 0)
}

//go:embed templates
var templates embed.FS

// statusFunctions are what the template of the status calls.
var statusFunctions = template.FuncMap{
	"row": func(cells ...any) string {
		texts := make([]string, len(cells))
		for i, cell := range cells { // 0 is a number that is shown
			texts[i] = cmp.Or(console.Printable(fmt.Sprint(cell)), "-")
		}
		return strings.Join(texts, "\t")
	},
	"line":      func(parts ...any) string { return console.OneLine(fmt.Sprintln(parts...)) },
	"printable": console.Printable,
	"at":        console.Text,
	"ms": func(ms int64) string {
		if ms == 0 {
			return "" // it is not known
		}
		return (time.Duration(ms) * time.Millisecond).String()
	},
	"mb":   megabytes,
	"used": Used,
	"memory": func(r status.Redis) string {
		if r.Limit == 0 {
			return "none"
		}
		return fmt.Sprintf("%s (%d %% used)", megabytes(r.Limit), r.Percent())
	},
	"rules": func(rules drift.State) string {
		switch {
		case rules.RulesAgree == nil:
			return "not checked"
		case *rules.RulesAgree:
			return fmt.Sprintf("agree, %d checked", rules.Checked)
		}
		return fmt.Sprintf("differ, %d of %d", rules.Differed, rules.Checked)
	},
	"versions": func(workers []jobs.Worker) string {
		versions := map[string]bool{}
		for _, w := range workers {
			versions[cmp.Or(w.Version, "unknown")] = true
		}
		return strings.Join(slices.Sorted(maps.Keys(versions)), ", ")
	},
	"total": func(counts map[string]int64) (sum int64) {
		for _, n := range counts {
			sum += n
		}
		return sum
	},
	"counts": func(counts map[string]int64) string {
		names := status.Commonest(counts)
		for i, name := range names {
			names[i] = fmt.Sprint(name, " ", counts[name])
		}
		return strings.Join(names, ", ")
	},
	"failed": func(counts map[batch.State]int) int {
		return counts[batch.Failed] + counts[batch.Rejected] + counts[batch.Cancelled]
	},
	"valid": func(keys []status.Key) []status.Key {
		return slices.DeleteFunc(slices.Clone(keys), func(k status.Key) bool { return !k.Revoked.IsZero() })
	},
	"nearest": func(key status.Key) string {
		use, ok := key.Nearest()
		if !ok {
			return ""
		}
		return use.What + " " + Used(use.Used, use.Limit)
	},
	"state": stateOf,
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) } //nolint:mnd // megabytes

// Used prints how much of a limit is used; a limit of 0 is none.
func Used(used, limit int64) string {
	if limit == 0 {
		return strconv.FormatInt(used, 10)
	}
	return fmt.Sprintf("%d of %d (%d %%)", used, limit, status.Percent(used, limit))
}
