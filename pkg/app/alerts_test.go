package app_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/app"
	"ushuru/pkg/redisx/redistest"
)

var (
	ofRules    = regexp.MustCompile(`\b(ushuru_\w+)(?:\{([^}]*)\})?`)
	ofSelector = regexp.MustCompile(`(\w+)(=~?)"([^"]*)"`)
	ofSeries   = regexp.MustCompile(`(?m)^(ushuru_\w+?)(?:\{(.*)\})? (\S+)$`)
	ofLabels   = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
)

// series is one line of /metrics.
type series struct {
	labels map[string]string
	value  string
}

// matches says whether a series has a label that a pattern of an alert matches as a whole.
func (s series) matches(label, pattern string) bool {
	return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(s.labels[label])
}

// Each selector of each alert finds a series on an API or a worker that has just been started,
// for each word of an alternative one: a counter that begins with its first event shows no
// increase by it.
func TestAlertsFindTheirSeries(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/prometheus/alerts.yml")
	must(t, err)
	found := map[string][]series{}
	for _, keep := range []func(*app.Options){
		func(o *app.Options) { o.Worker = nil },
		func(o *app.Options) { o.API = nil },
	} {
		o := everything(t)
		keep(&o)
		o.Admin.Addr = redistest.FreeAddress(t)
		service, err := app.New(o)
		must(t, err)
		t.Cleanup(service.Stop)
		must(t, service.Start(t.Context()))
		_, text := get(t, "http://"+o.Admin.Addr+"/metrics")
		for _, line := range ofSeries.FindAllStringSubmatch(text, -1) {
			one := series{map[string]string{}, line[3]}
			for _, label := range ofLabels.FindAllStringSubmatch(line[2], -1) {
				one.labels[label[1]] = label[2]
			}
			found[line[1]] = append(found[line[1]], one)
		}
	}
	var seen int
	for line := range strings.Lines(string(rules)) {
		for _, selector := range ofRules.FindAllStringSubmatch(line, -1) {
			seen++
			checkSelector(t, found[selector[1]], selector[0], selector[2])
		}
	}
	if seen < 15 {
		t.Errorf("the alerts have %d selectors only", seen)
	}
}

func checkSelector(t *testing.T, of []series, selector, labels string) {
	t.Helper()
	alternatives := [][]string{}
	for _, label := range ofSelector.FindAllStringSubmatch(labels, -1) {
		words := []string{regexp.QuoteMeta(label[3])}
		if label[2] == "=~" {
			words = strings.Split(label[3], "|")
		}
		of = slices.DeleteFunc(slices.Clone(of), func(s series) bool { return !s.matches(label[1], strings.Join(words, "|")) })
		for _, word := range words {
			alternatives = append(alternatives, []string{label[1], word})
		}
	}
	if len(of) == 0 {
		t.Errorf("%s: no process has such a series from its start", selector)
	}
	for _, alternative := range alternatives {
		if !slices.ContainsFunc(of, func(s series) bool { return s.matches(alternative[0], alternative[1]) }) {
			t.Errorf("%s: no process has a series with %s=%q from its start", selector, alternative[0], alternative[1])
		}
	}
	for _, s := range of {
		if strings.Contains(selector, "_total") && s.value != "0" {
			t.Errorf("%s: %v begins with %s", selector, s.labels, s.value)
		}
	}
}
