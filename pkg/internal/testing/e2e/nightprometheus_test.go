package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/testenv"
)

// factor is by how much the times of the rules are shortened: for how long an alert must
// hold, the ranges of its expressions, and the ages in them.
const factor = 60

// interval is how often Prometheus asks, in milliseconds: every second and not four times as
// often, because a busy machine does not answer in a quarter of a second.
const interval = 1000

// rulesFile is the file of the alerts.
func rulesFile(t *testing.T) string {
	return testenv.InRepository(t, "deploy", "prometheus", "alerts.yml")
}

var (
	ruleTimes = regexp.MustCompile(`(for: |\[)(\d+)(s|m|h)`)
	ruleAges  = regexp.MustCompile(`(ushuru_(?:queue|jobs)_oldest_seconds\{[^}]*\}\) > )(\d+)`)
)

// shortened returns the rules with all times shortened.
func shortened(rules string) string {
	rules = ruleTimes.ReplaceAllStringFunc(rules, func(found string) string {
		parts := ruleTimes.FindStringSubmatch(found)
		d, err := time.ParseDuration(parts[2] + parts[3])
		if err != nil {
			panic(err)
		}
		return fmt.Sprintf("%s%dms", parts[1], (d / factor).Milliseconds())
	})
	return ruleAges.ReplaceAllStringFunc(rules, func(found string) string {
		parts := ruleAges.FindStringSubmatch(found)
		age, err := strconv.ParseFloat(parts[2], 64)
		if err != nil {
			panic(err)
		}
		return parts[1] + strconv.FormatFloat(age/factor, 'g', -1, 64)
	})
}

// prometheus is a real one.
type prometheus struct {
	t    *testing.T
	base string
	mu   sync.Mutex
	log  strings.Builder
}

var listensOn = regexp.MustCompile(`msg="Listening on"[^\n]* address=(\S+)`)

// startPrometheus starts one that asks the addresses, by their names.
func startPrometheus(t *testing.T, targets map[string]string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	rules, err := os.ReadFile(rulesFile(t))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "alerts.yml"), []byte(shortened(string(rules))), 0o600))
	var config strings.Builder
	fmt.Fprintf(&config, "global: {scrape_interval: %dms, scrape_timeout: %dms, evaluation_interval: %dms}\n"+
		"rule_files: [alerts.yml]\nscrape_configs:\n  - job_name: ushuru\n    static_configs:\n", interval, interval, interval/2)
	for service, address := range targets {
		fmt.Fprintf(&config, "      - {targets: [%q], labels: {service: %q}}\n", address, service)
	}
	must(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config.String()), 0o600))
	p := &prometheus{t: t}
	command := exec.Command(testenv.Binary(t, "prometheus"), "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	command.Stderr, command.SysProcAttr = p, endsWithParent()
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	awaitNight(t, "Prometheus answers", p.text, func() bool { // it refuses for a while after it listens
		found := listensOn.FindStringSubmatch(p.text())
		if found == nil {
			return false
		}
		p.base = "http://" + found[1]
		return p.get("/api/v1/status/buildinfo", &struct{}{}) == nil
	})
	return p
}

// Write takes the log.
func (p *prometheus) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(data)
}

func (p *prometheus) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// get reads an answer of its API.
func (p *prometheus) get(path string, data any) error {
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.base+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   any    `json:"data"`
	}{Data: data}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("prometheus: %s: %s", path, answer.Error)
	}
	return nil
}

// alert is an alert that fires or is about to.
type nightAlert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"`
}

// firing returns the alerts that fire, by name.
func (p *prometheus) firing() map[string]nightAlert {
	p.t.Helper()
	var data struct {
		Alerts []nightAlert `json:"alerts"`
	}
	must(p.t, p.get("/api/v1/alerts", &data))
	found := map[string]nightAlert{}
	for _, a := range data.Alerts {
		if a.State == "firing" {
			found[a.Labels["alertname"]] = a
		}
	}
	return found
}

// value returns what an expression gives now.
func (p *prometheus) value(expression string) string {
	p.t.Helper()
	var data struct {
		Result []struct {
			Value [2]any `json:"value"`
		} `json:"result"`
	}
	must(p.t, p.get("/api/v1/query?query="+url.QueryEscape(expression), &data))
	values := make([]string, 0, len(data.Result))
	for _, r := range data.Result {
		text := fmt.Sprint(r.Value[1])
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			text = strconv.FormatFloat(number, 'g', 4, 64)
		}
		values = append(values, text)
	}
	if len(values) == 0 {
		return "nothing"
	}
	return strings.Join(values, ", ")
}
