package status

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oasdiff/yaml"

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
	golden.Check(t, deploy("prometheus", "alerts.yml"), alertFile(t))
	golden.Section(t, deploy("alertmanager", "alertmanager.yml"), "\ninhibit_rules:\n", "# end\n", inhibitions(t))
	night := testenv.InRepository(t, "docs", "night.md")
	golden.Section(t, night, "<!-- causes -->\n", "<!-- end of causes -->\n", runbookHead(t))
}

// alert is a cause with what only its alert has.
type alert struct {
	cause

	Expr    string `json:"expr"`
	Hold    string `json:"hold"`
	Silent  string `json:"silent"`
	Summary string `json:"summary"`
	Noticed string `json:"noticed"`
	Over    string `json:"over"`
}

// allOf returns the whole table, with the thresholds in their places.
func allOf(t *testing.T) (all []alert) {
	t.Helper()
	number := func(n float64) string { return strconv.FormatFloat(n, 'g', 3, 64) }
	minutes := func(d time.Duration) string { return number(d.Minutes()) + "m" }
	text := strings.NewReplacer(
		"$redisShare", number(redisPercent/100.0), "$redisPercent", number(redisPercent), "$aiShare", number(aiPercent/100.0),
		"$aiFailures", number(aiFailures-0.5), "$wrongClock", number(wrongClock.Seconds()), "$upgradeTakes", minutes(upgradeTakes),
		"$errorsPerThousand", number(errorsPerThousand), "$enoughErrors", number(enoughErrors), "$enoughTries", number(enoughTries),
		"$peopleWait", number(peopleWait.Seconds()), "$batchWait", strconv.Itoa(int(batchWait.Seconds())),
		"$authorityDownAfter", minutes(authorityDownAfter),
	).Replace(string(causesFile))
	if _, err := yaml.Unmarshal([]byte(text), &all, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	return all
}

func alertFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`# What an operator is woken for: the table of causes in pkg/operate/status/causes.yaml, which
# says why an expression is as it is. Do not edit; go test ./pkg/operate/status -update
# writes it. Each alert leads to its section of docs/night.md; alerts_test.yml has series
# for each, and make night provokes each with the real program. Gauges that every process
# reads from Redis are the same everywhere: max takes one.
groups:
  - name: ushuru
    rules:
`)
	for _, c := range allOf(t) {
		if c.Alert == "" {
			continue
		}
		expr := strings.ReplaceAll(c.Expr, "\n", "\n          ")
		fmt.Fprintf(&b, "      - alert: %s\n        expr: >-\n          %s\n", c.Alert, expr)
		if c.Hold != "" {
			fmt.Fprintf(&b, "        for: %s\n", c.Hold)
		}
		fmt.Fprintf(&b, "        labels: {severity: %s}\n        annotations:\n", c.Severity)
		fmt.Fprintf(&b, "          summary: %q\n          runbook: docs/night.md#%s\n", c.Summary, strings.ToLower(c.Alert))
	}
	return b.String()
}

func inhibitions(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, c := range allOf(t) {
		if len(c.After) == 0 {
			continue
		}
		targets := fmt.Sprintf("alertname=%q", c.Alert)
		if c.Silent != "" {
			targets += ", " + c.Silent
		}
		fmt.Fprintf(&b, "  - source_matchers: [alertname=~%q]\n", strings.Join(c.After, "|"))
		fmt.Fprintf(&b, "    target_matchers: [%s]\n", targets)
	}
	return b.String()
}

func runbookHead(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| alert | reaches you as | what people notice | first command | over when |\n|---|---|---|---|---|\n")
	for _, c := range allOf(t) {
		if c.Alert != "" {
			command := strings.Replace(c.Command, "%s", "NAME", 1)
			fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | `%s` | %s |\n",
				c.Alert, strings.ToLower(c.Alert), c.Severity, c.Noticed, command, c.Over)
		}
	}
	return b.String()
}

// What names an alert in the table names one that is there, and each cause is complete.
func TestCausesAreComplete(t *testing.T) {
	t.Parallel()
	alerts, codes := map[string]bool{}, map[string]bool{}
	for _, c := range allOf(t) {
		alerts[c.Alert], codes[c.Code] = true, true
	}
	for code := range finders {
		if !codes[code] {
			t.Errorf("the table has no cause %q, which needs.go finds", code)
		}
	}
	for _, c := range allOf(t) {
		name := c.Code + c.Alert
		if (finders[c.Code] == nil) != (c.Code == "") || c.Alert == "" && c.Code == "" {
			t.Errorf("%s: the code and its function", name)
		}
		if c.Alert != "" && slices.Contains([]string{c.Expr, c.Summary, c.Noticed, c.Over, c.Command}, "") {
			t.Errorf("%s: the alert is not complete", name)
		}
		if c.Severity != page && c.Severity != ticket {
			t.Errorf("%s: severity %q", name, c.Severity)
		}
		for _, other := range c.After {
			if other == "" || other == c.Alert || !alerts[other] {
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
		if needs := s.NeedsOf(); len(needs) != want || want == 1 && needs[0].Code != "clock_differs" {
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
	if got, want := codes(), []string{"no_worker"}; !slices.Equal(got, want) {
		t.Errorf("without a worker got %v, want %v", got, want)
	}
	s.Redis.Refuses = "MISCONF"
	if got, want := codes(), []string{"redis_refuses"}; !slices.Equal(got, want) {
		t.Errorf("with a Redis that refuses writes got %v, want %v", got, want)
	}
	s.Redis.Unsaved = "rdb_last_bgsave_status"
	if got, want := codes(), []string{"redis_refuses"}; !slices.Equal(got, want) {
		t.Errorf("with a Redis whose disk is full got %v, want %v", got, want)
	}
	s = Status{OldestMS: s.OldestMS}
	if got, want := codes(), []string{"people_wait", "batches_wait"}; !slices.Equal(got, want) {
		t.Errorf("by itself got %v, want %v", got, want)
	}
}

// A share has the same figure wherever it is shown: 29 of 100 are not 28 %.
func TestPercentIsExact(t *testing.T) {
	t.Parallel()
	for part := range int64(101) {
		if got := Percent(part, 100); got != int(part) {
			t.Errorf("%d of 100 are %d %%", part, got)
		}
	}
	if got := Percent(7, 0); got != 0 {
		t.Errorf("without a limit it is %d %%", got)
	}
}
