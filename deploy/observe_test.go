package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

// promtool runs promtool in the folder of Prometheus.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), testenv.Binary(t, "promtool"), args...)
	command.Dir = "prometheus"
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", args, err, out)
	}
}

// Prometheus accepts the settings, and every alert fires when it should, and only then.
func TestAlertsFire(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for _, settings := range []string{"prometheus.yml", "systemd.yml", "kubernetes.yml"} {
		// The Prometheus of Debian does not ask Kubernetes.
		text := regexp.MustCompile(`kubernetes_sd_configs:\n.*`).ReplaceAllString(read(t, filepath.Join("prometheus", settings)), "static_configs: []")
		copied := filepath.Join(t.TempDir(), settings)
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		promtool(t, "check", "config", "--syntax-only", copied)
	}
	promtool(t, "check", "rules", "alerts.yml")
	promtool(t, "test", "rules", "alerts_test.yml")
	tests := read(t, filepath.Join("prometheus", "alerts_test.yml"))
	for _, name := range alerts(t) {
		for _, what := range []string{" fires\n", " is silent\n"} {
			if !strings.Contains(tests, "name: "+name+what) {
				t.Errorf("no test in which %s%s", name, what)
			}
		}
	}
}

// alerts returns the names of the alerts.
func alerts(t *testing.T) (names []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(read(t, filepath.Join("prometheus", "alerts.yml")), -1) {
		names = append(names, match[1])
	}
	if len(names) < 11 {
		t.Fatalf("only the alerts %v", names)
	}
	return names
}

// Every alert leads to its section of the document for the night, which has a row with a
// command and says what to do.
func TestAlertsHaveARunbook(t *testing.T) {
	t.Parallel()
	document := read(t, filepath.Join("..", "docs", "night.md"))
	text := read(t, filepath.Join("prometheus", "alerts.yml"))
	for _, name := range alerts(t) {
		anchor := strings.ToLower(name)
		if !strings.Contains(text, "runbook: docs/night.md#"+anchor+"\n") {
			t.Errorf("%s does not lead to its section", name)
		}
		if !regexp.MustCompile(`(?m)^\| \[` + name + `\]\(#` + anchor + "\\) \\| [^|]+ \\| [^|]+ \\| `(ushuru|redis-cli) [^|]+` \\| [^|]+ \\|$").MatchString(document) {
			t.Errorf("%s has no row", name)
		}
		_, section, found := strings.Cut(document, "\n## "+name+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found || !strings.Contains(section, "\n**Do.** ") || !strings.Contains(section, "\n$ ") {
			t.Errorf("%s has no section with what to do and what was printed", name)
		}
	}
	if rows, all := strings.Count(document, "\n| [Ushuru"), len(alerts(t)); rows != all {
		t.Errorf("%d rows and %d alerts", rows, all)
	}
}

// notOurs are the families of the Go process and of Prometheus itself.
var notOurs = []string{"process_resident_memory_bytes", "process_cpu_seconds_total"}

// Alerts and panels ask for metrics that the service has, and every panel asks for some.
func TestAlertsAndPanelsUseMetricsThatExist(t *testing.T) {
	t.Parallel()
	known := read(t, filepath.Join("..", "docs", "metrics.md"))
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Type    string `json:"type"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join("grafana", "dashboards", "ushuru.json"))), &dashboard); err != nil {
		t.Fatal(err)
	}
	asked := map[string]string{"alerts.yml": read(t, filepath.Join("prometheus", "alerts.yml"))}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			asked[panel.Title] = strings.Join([]string{asked[panel.Title], target.Expr}, "\n")
		}
		if panel.Type != "row" && asked[panel.Title] == "" {
			t.Errorf("the panel %q shows nothing", panel.Title)
		}
	}
	name := regexp.MustCompile(`\b(?:ushuru|process)_[a-z_]+`)
	for where, text := range asked {
		for _, metric := range name.FindAllString(text, -1) {
			family := strings.TrimSuffix(metric, "_bucket")
			if !strings.Contains(known, "`"+family+"`") && !slices.Contains(notOurs, family) {
				t.Errorf("%s asks for %s, which docs/metrics.md does not have", where, metric)
			}
		}
	}
}

// The alerts that ask for the label job or service find them on the processes of each way to
// deploy, and Prometheus asks each process of the units where it listens.
func TestEachWayHasTheLabelsOfTheAlerts(t *testing.T) {
	t.Parallel()
	for file, api := range map[string]string{
		"prometheus.yml": "names: [api,", "systemd.yml": `{targets: ["127.0.0.1:9464"], labels: {service: api}}`,
		"kubernetes.yml": "{source_labels: [__meta_kubernetes_pod_label_app_kubernetes_io_component], target_label: service}",
	} {
		text := read(t, filepath.Join("prometheus", file))
		if !strings.Contains(text, "job_name: ushuru\n") || !strings.Contains(text, api) {
			t.Errorf("%s has not the job ushuru, or no service api", file)
		}
	}
	if !strings.Contains(read(t, filepath.Join("kubernetes", "base", "api.yaml")), "app.kubernetes.io/component: api}") {
		t.Error("the pods of the API have not the component api")
	}
	if !strings.Contains(read(t, filepath.Join("..", "docs", "configuration.md")),
		"9464 (API), 9465 (workers), 9466 (role ai alone), 9467 (role authority alone)") {
		t.Error("systemd.yml asks at other ports than those of the default ADMIN_ADDR")
	}
}
