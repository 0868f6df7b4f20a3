package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"ushuru/pkg/testenv"
)

// alertmanagerStart is alertmanager/start with a program and the settings of its environment,
// beside a copy of the routes in which groups wait for a tenth of a second. It writes the
// file that it returns.
func alertmanagerStart(t *testing.T, env []string, args ...string) (command *exec.Cmd, config string) {
	t.Helper()
	dir := t.TempDir()
	routes := regexp.MustCompile(`(group_wait|group_interval): \w+`).ReplaceAllString(read(t, "alertmanager/alertmanager.yml"), "$1: 100ms")
	for name, text := range map[string]string{"start": read(t, "alertmanager/start"), "alertmanager.yml": routes} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config = filepath.Join(dir, "config.yml")
	command = exec.CommandContext(t.Context(), testenv.Binary(t, "sh"), append([]string{filepath.Join(dir, "start")}, args...)...)
	command.Env = append(slices.Clone(env), "CONFIG_FILE="+config, "PATH="+os.Getenv("PATH"))
	return command, config
}

// Alertmanager accepts the settings with each kind of receiver, and what can wait goes where
// pages go when it has none of its own.
func TestAlertmanagerAcceptsTheSettings(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	mail := []string{"PAGE_MAIL=night@example.com", "SMTP_HOST=mail.example.com:587", "SMTP_FROM=ushuru@example.com"}
	for _, env := range [][]string{
		{"PAGE_URL=https://push.example.com/a?b=c&d=#'"},
		mail,
		append(mail, "PAGE_URL=https://push.example.com", "TICKET_MAIL=day@example.com", "SMTP_USER=u", `SMTP_PASSWORD=it's "#: {`),
	} {
		start, config := alertmanagerStart(t, env, "true")
		if out, err := start.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", env, err, out)
		}
		if out, err := exec.CommandContext(t.Context(), testenv.Binary(t, "amtool"), "check-config", config).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", env, err, out)
		}
		_, page, _ := strings.Cut(read(t, config), "  - name: page\n")
		page, ticket, _ := strings.Cut(page, "  - name: ticket\n")
		if own := slices.Contains(env, "TICKET_MAIL=day@example.com"); page == "" || own == (page == ticket) {
			t.Errorf("%s: pages go to\n%sand tickets to\n%s", env, page, ticket)
		}
	}
}

// Without a receiver Alertmanager does not start, and says which file to fill in: so it is
// after new-env.
func TestAlertmanagerSaysWhatToFillIn(t *testing.T) {
	t.Parallel()
	for missing, env := range map[string][]string{
		"PAGE_URL, PAGE_MAIL or both": strings.Split(newEnv(t)["alertmanager.env"], "\n"),
		"SMTP_HOST and SMTP_FROM":     {"PAGE_MAIL=night@example.com", "SMTP_HOST=mail.example.com:587"},
	} {
		start, _ := alertmanagerStart(t, env, "echo", "started")
		out, err := start.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "deploy/env/alertmanager.env needs "+missing) {
			t.Errorf("%v, %s", err, out)
		}
	}
}

// labels are those of an alert; severity is as in alerts.yml.
type labels map[string]string

// alert returns the labels of an alert of alerts.yml, and further ones.
func alert(t *testing.T, name string, more ...string) labels {
	t.Helper()
	match := regexp.MustCompile(`(?s)- alert: ` + name + `\n.*?severity: (\w+)`).FindStringSubmatch(read(t, "prometheus/alerts.yml"))
	if match == nil {
		t.Fatalf("no alert %s", name)
	}
	l := labels{"alertname": name, "severity": match[1]}
	for i := 0; i < len(more); i += 2 {
		l[more[i]] = more[i+1]
	}
	return l
}

// alertmanager is a real one with a real receiver.
type alertmanager struct {
	t    *testing.T
	base string
	mu   sync.Mutex
	log  bytes.Buffer
	came []string // path, name and service of each alert that the receiver got
}

// Write takes the log.
func (a *alertmanager) Write(data []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.Write(data)
}

// ServeHTTP is the receiver.
func (a *alertmanager) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var notification struct {
		Alerts []struct {
			Labels labels `json:"labels"`
		} `json:"alerts"`
	}
	err := json.NewDecoder(r.Body).Decode(&notification)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.came = append(a.came, err.Error())
	}
	for _, one := range notification.Alerts {
		a.came = append(a.came, notified(r.URL.Path, one.Labels))
	}
}

// notified is how an alert is written that came to a path.
func notified(path string, l labels) string {
	return strings.Join([]string{path, l["alertname"], l["service"], l["probe"]}, " ")
}

// await waits until something is so.
func (a *alertmanager) await(what string, is func() bool) {
	a.t.Helper()
	testenv.Await(a.t, what, func() (any, bool) {
		if is() {
			return nil, true
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		return fmt.Sprintf("%q\n%s", a.came, &a.log), false
	})
}

// has tells whether an alert came to where its severity goes.
func (a *alertmanager) has(l labels) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.came, notified("/"+l["severity"], l))
}

// startAlertmanager starts one whose pages go to /page and tickets to /ticket of its receiver.
func startAlertmanager(t *testing.T) *alertmanager {
	t.Helper()
	a := &alertmanager{t: t}
	receiver := httptest.NewServer(a)
	t.Cleanup(receiver.Close)
	command, _ := alertmanagerStart(t, []string{"PAGE_URL=" + receiver.URL + "/page", "TICKET_URL=" + receiver.URL + "/ticket"},
		testenv.Binary(t, "prometheus-alertmanager", "alertmanager"),
		"--storage.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0", "--cluster.listen-address=")
	command.Stderr = a
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	listens := regexp.MustCompile(`"Listening on" address=(\S+)`)
	a.await("Alertmanager listens", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		if found := listens.FindSubmatch(a.log.Bytes()); found != nil {
			a.base = "http://" + string(found[1])
		}
		return a.base != ""
	})
	return a
}

// call asks its API.
func (a *alertmanager) call(method string, body, answer any) {
	a.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(a.t.Context(), method, a.base+"/api/v2/alerts", bytes.NewReader(text))
	if err != nil {
		a.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		a.t.Fatalf("%s: %s", method, response.Status)
	}
	if answer != nil {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			a.t.Fatal(err)
		}
	}
}

// post tells it that alerts fire, as Prometheus does.
func (a *alertmanager) post(fire ...labels) {
	a.t.Helper()
	body := make([]map[string]labels, 0, len(fire))
	for _, l := range fire {
		body = append(body, map[string]labels{"labels": l})
	}
	a.call(http.MethodPost, body, nil)
}

// suppressed counts the alerts that others silence.
func (a *alertmanager) suppressed() (count int) {
	a.t.Helper()
	var all []struct {
		Status struct {
			InhibitedBy []string `json:"inhibitedBy"`
		} `json:"status"`
	}
	a.call(http.MethodGet, nil, &all)
	for _, one := range all {
		if len(one.Status.InhibitedBy) > 0 {
			count++
		}
	}
	return count
}

// A page and a ticket reach their receivers, also while a cause fires, and what follows from
// the cause does not.
func TestAlertsReachTheirReceiversAndWhatFollowsDoesNot(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	people, batches, noWorker := alert(t, "UshuruPeopleWait"), alert(t, "UshuruBatchesWait"), alert(t, "UshuruNoWorker", "role", "any")
	errors, refuses := alert(t, "UshuruErrorBudget"), alert(t, "UshuruRedisRefusesWrites")
	unscraped := func(service string) labels { return alert(t, "UshuruNotScraped", "service", service) }
	full, others := alert(t, "UshuruRedisFull"), []labels{alert(t, "UshuruSiteBlocks"), unscraped("worker-any")}
	for cause, follows := range map[string][]labels{
		"UshuruRedisDown":          {refuses, full, noWorker, errors, people, batches},
		"UshuruRedisRefusesWrites": {full, noWorker, errors, people, batches},
		"UshuruNoWorker":           {people, batches},
		"UshuruAuthorityDown":      {people, batches},
		"UshuruAuthorityRefuses":   {people, batches},
		"UshuruNoAPI":              {errors, unscraped("api"), alert(t, "UshuruNotScraped")},
	} {
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			a := startAlertmanager(t)
			a.post(alert(t, cause))
			a.await(cause+" came", func() bool { return a.has(alert(t, cause)) })
			// Probes may come before they are silenced; when they are, the cause is known.
			for _, l := range follows {
				probe := labels{"probe": "yes"}
				maps.Copy(probe, l)
				a.post(probe)
			}
			a.await("what follows is silent", func() bool { return a.suppressed() == len(follows) })
			a.post(follows...)
			a.post(others...)
			for _, l := range others {
				a.await(fmt.Sprint(l, " came"), func() bool { return a.has(l) })
			}
			for _, l := range follows {
				if a.has(l) {
					t.Errorf("%v came", l)
				}
			}
		})
	}
}

// What is silent, and why, are alerts that exist, and Prometheus finds Alertmanager where
// observe.yml has it.
func TestAlertmanagerKnowsTheAlertsAndIsFound(t *testing.T) {
	t.Parallel()
	for _, name := range regexp.MustCompile(`Ushuru\w+`).FindAllString(read(t, "alertmanager/alertmanager.yml"), -1) {
		if !slices.Contains(alerts(t), name) {
			t.Errorf("%s is no alert", name)
		}
	}
	target := regexp.MustCompile(`targets: \[([a-z]+):9093\]`).FindStringSubmatch(read(t, "prometheus/prometheus.yml"))
	if target == nil || !strings.Contains(read(t, "compose/observe.yml"), "\n  "+target[1]+":\n    <<: *observed\n") {
		t.Errorf("Prometheus asks for %q", target)
	}
}
