package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
)

// Status prints whether the API and TRA's calculator can be asked; as the operator, what
// the console shows.
type Status struct{ target }

// Run is called by kong. As the operator it exits with 1 when urgent work stands still, so
// that a watchdog can call it.
func (c *Status) Run(s *Session) error {
	return c.run(s, c.ofAPI, func(ctx context.Context, o *operate.Operator) (printed, error) {
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
func (c *Status) ofAPI(ctx context.Context, api *client.Client) (printed, error) {
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
	return record(tra,
		console.Field{Name: "API", Value: c.APIURL + ": ready"},
		console.Field{Name: "TRA", Value: console.OneLine(tra.Status, tra.Reason, tra.Message)},
		console.Field{Name: "Latency", Value: (time.Duration(tra.LatencyMs) * time.Millisecond).String()},
		console.Field{Name: "Last answer", Value: at(tra.LastSuccessAt)},
		console.Field{Name: "Last failure", Value: console.OneLine(at(tra.LastFailureAt), tra.ErrorKind)},
		console.Field{Name: "Tax rules", Value: rules}), nil
}

// section is one part of the status.
type section struct {
	name, header string
	rows         [][]string
}

// printStatus prints the status as JSON, or as tables of which empty ones are left out.
func (s *Session) printStatus(f console.Format, now *status.Status) error {
	switch {
	case f.JSON():
		return console.WriteJSON(s.Out, now)
	case f.CSV():
		return console.Answer{Output: "csv"}.Print(s.Streams, now)
	}
	if err := s.printNeeds(now); err != nil {
		return err
	}
	for _, part := range []section{
		authoritySection(now), workerSection(now), siteSection(now), peopleSection(now), failureSection(now), batchSection(now),
		keySection(now), aiSection(now), webhookSection(now), queueSection(now), redisSection(now),
	} {
		if len(part.rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(s.Out, "\n%s\n", part.name); err != nil {
			return err
		}
		if err := console.Table(s.Streams, part.header, part.rows); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) printNeeds(now *status.Status) error {
	if len(now.Needs) == 0 {
		_, err := fmt.Fprintf(s.Out, "OK at %s\n", console.Time(now.At))
		return err
	}
	things := "1 thing needs"
	if n := len(now.Needs); n > 1 {
		things = strconv.Itoa(n) + " things need"
	}
	lines := []string{fmt.Sprintf("%s you at %s; ! is urgent", things, console.Time(now.At))}
	for _, need := range now.Needs {
		line := "  " + console.Printable(need.Text)
		if need.Urgent {
			line = "!" + line[1:]
		}
		if need.Since != nil {
			line += " Since " + console.Time(*need.Since) + "."
		}
		lines = append(lines, line)
		if need.Command != "" {
			lines = append(lines, "    "+console.Printable(need.Command))
		}
	}
	_, err := fmt.Fprintln(s.Out, strings.Join(lines, "\n"))
	return err
}

func redisSection(now *status.Status) section {
	r := now.Redis
	if r.Used == 0 { // the server does not tell
		return section{}
	}
	limit := "none"
	if r.Limit > 0 {
		limit = fmt.Sprintf("%d MB (%d %% used)", r.Limit>>20, r.Percent()) //nolint:mnd // megabytes
	}
	used := fmt.Sprintf("%d MB", r.Used>>20) //nolint:mnd // megabytes
	return section{"Redis", "USED\tLIMIT\tWHEN FULL", [][]string{{used, limit, r.Policy}}}
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// millis returns a duration; 0 is one that is not known.
func millis(ms int64) string {
	if ms == 0 {
		return ""
	}
	return (time.Duration(ms) * time.Millisecond).String()
}

func percentOf(used, limit int64, percent int) string {
	if limit == 0 {
		return count(used)
	}
	return fmt.Sprintf("%d of %d (%d %%)", used, limit, percent)
}

func authoritySection(now *status.Status) section {
	a := now.Authority
	return section{"TRA", "STATE\tBREAKER\tLAST TOOK\tMEDIAN\tLAST ANSWER\tRULES\tQUARTER ENDS", [][]string{{
		console.OneLine(string(a.State), a.Reason), a.Breaker, millis(a.LatencyMS), millis(a.MedianMS), at(a.LastSuccessAt),
		rulesText(a), a.QuarterEnd.Format(time.DateOnly),
	}}}
}

// rulesText says whether TRA's answers follow the dated rules.
func rulesText(a status.Authority) string {
	rules := a.Rules
	switch {
	case rules.RulesAgree == nil:
		return "not checked"
	case *rules.RulesAgree:
		return fmt.Sprintf("agree, %d checked", rules.Checked)
	}
	return fmt.Sprintf("differ, %d of %d", rules.Differed, rules.Checked)
}

func workerSection(now *status.Status) section {
	part := section{name: "Workers", header: "ROLE\tALIVE\tWAITING\tLAST HEARTBEAT\tVERSIONS"}
	for _, role := range now.Workers {
		versions := map[string]bool{}
		for _, w := range role.Workers {
			versions[cmp.Or(w.Version, "unknown")] = true
		}
		part.rows = append(part.rows, []string{
			role.Role, strconv.Itoa(len(role.Workers)), strconv.Itoa(role.Waiting), at(role.LastBeat),
			strings.Join(slices.Sorted(maps.Keys(versions)), ", "),
		})
	}
	return part
}

func siteSection(now *status.Status) section {
	part := section{name: "Sites", header: "HOST\tREAD\tBLOCKED\tGONE\tOTHER\tMEDIAN\tLAST READ\tPAUSED UNTIL"}
	for _, site := range now.Sites {
		part.rows = append(part.rows, []string{
			site.Host, count(site.Read), count(site.Blocked), count(site.Gone), count(site.Wrong), millis(site.MedianMS),
			at(site.LastGood), at(site.PausedUntil),
		})
	}
	return part
}

// peopleSection is what visitors of the pages asked for, in all and by site.
func peopleSection(now *status.Status) section {
	p := now.People
	part := section{
		name: fmt.Sprintf("Visitors: %s pages, %s answers (median %s), %d ends not seen, in %s", total(p.Pages),
			count(p.Answered), cmp.Or(millis(p.MedianMS), "-"), p.Left, reasons(p.Languages)),
		header: "SITE\tNETWORKS\tASKED\tANSWERED\tREFUSED",
	}
	for _, site := range p.Sites {
		part.rows = append(part.rows, []string{
			site.Host, count(site.Networks), count(site.Asked), count(site.Answered), reasons(site.Refused),
		})
	}
	return part
}

func total(counts map[string]int64) string {
	sum := int64(0)
	for _, n := range counts {
		sum += n
	}
	return count(sum)
}

// reasons returns counts by name, the highest first.
func reasons(counts map[string]int64) string {
	names := status.Commonest(counts)
	for i, name := range names {
		names[i] = name + " " + count(counts[name])
	}
	return strings.Join(names, ", ")
}

func failureSection(now *status.Status) section {
	part := section{name: "Failures", header: "CODE\tSTEP\tTHIS HOUR\t24 H\tLAST JOB\tPAGE"}
	for _, f := range now.Failures {
		part.rows = append(part.rows, []string{f.Code, f.Step, count(f.Hour), count(f.Day), f.Job, f.Page})
	}
	return part
}

func batchSection(now *status.Status) section {
	part := section{name: "Batches", header: "ID\tKEY\tDONE\tFAILED\tLEFT\tA SECOND\tENDS ABOUT\tCOMMONEST REASON"}
	for _, b := range now.Batches {
		failed := b.Counts["failed"] + b.Counts["rejected"] + b.Counts["cancelled"]
		part.rows = append(part.rows, []string{
			b.ID, b.Name, strconv.Itoa(b.Counts["succeeded"]), strconv.Itoa(failed), strconv.Itoa(b.Left()),
			strconv.FormatFloat(b.PerSecond, 'f', 1, 64), cmp.Or(at(b.EndsAbout), at(b.Ended)), b.Reason,
		})
	}
	return part
}

func keySection(now *status.Status) section {
	part := section{name: "Keys", header: "ID\tNAME\tENDS IN\tLAST USED\tTODAY\tNEAREST LIMIT"}
	for _, key := range now.Keys {
		if !key.Revoked.IsZero() {
			continue
		}
		nearest := ""
		if use, ok := key.Nearest(); ok {
			nearest = use.What + " " + percentOf(use.Used, use.Limit, use.Percent())
		}
		part.rows = append(part.rows, []string{key.ID, key.Name, key.Hint, at(key.LastUsed), count(key.Today), nearest})
	}
	return part
}

func aiSection(now *status.Status) section {
	part := section{name: "AI", header: "MODEL\tANSWERS\tTOKENS\tMEDIAN\tFAILOVER"}
	for _, m := range now.AI.Models {
		part.rows = append(part.rows, []string{
			m.Name, count(m.OK), count(m.Tokens),
			millis(m.MedianMS), count(m.Failover),
		})
	}
	if len(part.rows) > 0 {
		part.name += ": today " + percentOf(now.AI.Used, now.AI.Limit, now.AI.Percent()) + " tokens"
	}
	return part
}

func webhookSection(now *status.Status) section {
	part := section{name: "Webhooks", header: "ID\tKEY\tHOST\tSTATE\tDELIVERED\tFAILED\tRETRIED"}
	for _, w := range now.Webhooks {
		part.rows = append(part.rows, []string{
			w.ID, w.Name, w.Host, stateOf(w.State, w.Disabled),
			count(w.Delivered), count(w.Failed), count(w.Retried),
		})
	}
	return part
}

func queueSection(now *status.Status) section {
	part := section{name: "Queues", header: "QUEUE\tROLE\tWAITING\tDELAYED\tRUNNING\tOLDEST"}
	for _, q := range now.Queues {
		name := q.Name
		if q.Paused {
			name += " (paused)"
		}
		part.rows = append(part.rows, []string{
			name, q.Role, strconv.Itoa(q.Waiting), strconv.Itoa(q.Delayed), strconv.Itoa(q.Running), millis(q.OldestMS),
		})
	}
	return part
}
