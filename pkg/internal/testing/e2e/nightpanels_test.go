package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"ushuru/pkg/testenv"
)

// checkPanels asks the real Prometheus what the panels of the dashboard ask: it must
// understand each. Every metric is one of docs/metrics.md or known to Prometheus: some have
// no series yet. Every panel has a unit.
func (n *night) checkPanels() {
	n.t.Helper()
	text, err := os.ReadFile(testenv.InRepository(n.t, "deploy", "grafana", "dashboards", "ushuru.json"))
	must(n.t, err)
	var dashboard struct {
		Panels []struct {
			Title       string `json:"title"`
			Type        string `json:"type"`
			FieldConfig struct {
				Defaults struct {
					Unit string `json:"unit"`
				} `json:"defaults"`
			} `json:"fieldConfig"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	must(n.t, json.Unmarshal(text, &dashboard))
	var known []string
	must(n.t, n.prometheus.get("/api/v1/label/__name__/values", &known))
	document, err := os.ReadFile(testenv.InRepository(n.t, "docs", "metrics.md"))
	must(n.t, err)
	isKnown := func(name string) bool {
		family := regexp.MustCompile(`_(?:bucket|sum|count)$`).ReplaceAllString(name, "")
		return slices.Contains(known, name) || strings.Contains(string(document), "| `"+family+"` |")
	}
	metric := regexp.MustCompile(`\b(?:ushuru|process)_[a-z0-9_]+`)
	for _, panel := range dashboard.Panels {
		if panel.Type == "row" {
			continue
		}
		if panel.FieldConfig.Defaults.Unit == "" || len(panel.Targets) == 0 {
			n.t.Errorf("the panel %q has no unit, or asks nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			expression := strings.ReplaceAll(target.Expr, "$__rate_interval", "1m")
			var answer any
			if err := n.prometheus.get("/api/v1/query?query="+url.QueryEscape(expression), &answer); err != nil {
				n.t.Errorf("the panel %q: %v", panel.Title, err)
			}
			for _, name := range metric.FindAllString(expression, -1) {
				if !isKnown(name) {
					n.t.Errorf("the panel %q asks for %s, which no process has", panel.Title, name)
				}
			}
		}
	}
}
