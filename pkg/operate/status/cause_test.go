package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/golden"
	"ushuru/pkg/jobs"
	"ushuru/pkg/testenv"
)

// The alerts, what silences them, and the head of the runbook are those of the table.
func TestFilesOfTheCauses(t *testing.T) {
	deploy := func(elements ...string) string {
		t.Helper()
		return testenv.InRepository(t, append([]string{"deploy"}, elements...)...)
	}
	golden.Check(t, deploy("prometheus", "alerts.yml"), alertFile())
	golden.Section(t, deploy("alertmanager", "alertmanager.yml"), "\ninhibit_rules:\n", "# end\n", inhibitions())
	night := testenv.InRepository(t, "docs", "night.md")
	golden.Section(t, night, "<!-- causes -->\n", "<!-- end of causes -->\n", runbookHead())
}

func alertFile() string {
	var b strings.Builder
	b.WriteString(`# What an operator is woken for: the table of causes in pkg/operate/status/cause.go, which
# says why an expression is as it is. Do not edit; go test ./pkg/operate/status -update
# writes it. Each alert leads to its section of docs/night.md; alerts_test.yml has series
# for each, and make night provokes each with the real program. Gauges that every process
# reads from Redis are the same everywhere: max takes one.
groups:
  - name: ushuru
    rules:
`)
	for _, c := range causes() {
		if c.alert == "" {
			continue
		}
		expr := strings.ReplaceAll(c.expr, "\n", "\n          ")
		fmt.Fprintf(&b, "      - alert: %s\n        expr: >-\n          %s\n", c.alert, expr)
		if c.hold != "" {
			fmt.Fprintf(&b, "        for: %s\n", c.hold)
		}
		fmt.Fprintf(&b, "        labels: {severity: %s}\n        annotations:\n", c.severity)
		fmt.Fprintf(&b, "          summary: %q\n          runbook: docs/night.md#%s\n", c.summary, strings.ToLower(c.alert))
	}
	return b.String()
}

func inhibitions() string {
	var b strings.Builder
	for _, c := range causes() {
		if len(c.after) == 0 {
			continue
		}
		targets := fmt.Sprintf("alertname=%q", c.alert)
		if c.silent != "" {
			targets += ", " + c.silent
		}
		fmt.Fprintf(&b, "  - source_matchers: [alertname=~%q]\n", strings.Join(c.after, "|"))
		fmt.Fprintf(&b, "    target_matchers: [%s]\n", targets)
	}
	return b.String()
}

func runbookHead() string {
	var b strings.Builder
	b.WriteString("| alert | reaches you as | what people notice | first command | over when |\n|---|---|---|---|---|\n")
	for _, c := range causes() {
		if c.alert != "" {
			command := strings.Replace(c.command, "%s", "NAME", 1)
			fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | `%s` | %s |\n",
				c.alert, strings.ToLower(c.alert), c.severity, c.noticed, command, c.over)
		}
	}
	return b.String()
}

// What names an alert in the table names one that is there, and each cause is complete.
func TestCausesAreComplete(t *testing.T) {
	t.Parallel()
	alerts := map[string]bool{}
	for _, c := range causes() {
		alerts[c.alert] = true
	}
	for _, c := range causes() {
		name := c.code + c.alert
		if (c.find == nil) != (c.code == "") || c.alert == "" && c.code == "" {
			t.Errorf("%s: the code and its function", name)
		}
		if c.alert != "" && slices.Contains([]string{c.expr, c.summary, c.noticed, c.over, c.command}, "") {
			t.Errorf("%s: the alert is not complete", name)
		}
		if c.severity != Page && c.severity != Ticket {
			t.Errorf("%s: severity %q", name, c.severity)
		}
		for _, other := range c.after {
			if other == "" || other == c.alert || !alerts[other] {
				t.Errorf("%s follows from %q", name, other)
			}
		}
	}
}

// A clock that is wrong by more than five seconds is told of, whichever is ahead.
func TestAWrongClockIsTold(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[int64]int{0: 0, 4900: 0, -4900: 0, 5100: 1, -5100: 1} {
		s := Status{Redis: Redis{AheadMS: ahead}}
		if needs := s.NeedsOf(); len(needs) != want || want == 1 && needs[0].Code != NeedClock {
			t.Errorf("%d ms ahead: got %+v, want %d", ahead, needs, want)
		}
	}
}

// What follows from a cause is not said beside it.
func TestOneCauseIsOneNeed(t *testing.T) {
	t.Parallel()
	s := Status{
		Workers:  []Role{{Role: "any", Waiting: 7}},
		OldestMS: map[jobs.Class]int64{"interactive": 90_000, "bulk": 4_000_000},
	}
	codes := func() (all []string) {
		for _, need := range s.NeedsOf() {
			all = append(all, need.Code)
		}
		return all
	}
	if got, want := codes(), []string{NeedWorker}; !slices.Equal(got, want) {
		t.Errorf("without a worker got %v, want %v", got, want)
	}
	s.Redis.Refuses = "MISCONF"
	if got, want := codes(), []string{NeedWrites}; !slices.Equal(got, want) {
		t.Errorf("with a Redis that refuses writes got %v, want %v", got, want)
	}
	s.Redis.Unsaved = "rdb_last_bgsave_status"
	if got, want := codes(), []string{NeedWrites}; !slices.Equal(got, want) {
		t.Errorf("with a Redis whose disk is full got %v, want %v", got, want)
	}
	s = Status{OldestMS: s.OldestMS}
	if got, want := codes(), []string{NeedPeople, NeedBatches}; !slices.Equal(got, want) {
		t.Errorf("by itself got %v, want %v", got, want)
	}
}
