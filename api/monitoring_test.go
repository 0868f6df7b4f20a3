package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"ushuru/api"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

const operator, password = "operator", "correct horse"

func monitored(writable bool) func(*api.Options) {
	return func(o *api.Options) {
		o.MonitoringUser, o.MonitoringPassword, o.MonitoringWritable = operator, password, writable
	}
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// visit is a scenario of an operator who is logged in.
func visit(name, method, url string, status int) scenario {
	return scenario{
		name: name, method: method, url: url, keyless: true, status: status,
		headers: map[string]string{"Authorization": basic(operator, password)},
	}
}

func (s scenario) from(site string) scenario {
	s.headers = map[string]string{"Authorization": basic(operator, password), "Sec-Fetch-Site": site}
	return s
}

func TestMonitoringNeedsALogin(t *testing.T) {
	challenge := map[string]string{"WWW-Authenticate": `Basic realm="Ushuru operators", charset="UTF-8"`}
	for _, url := range []string{"/monitoring", "/monitoring/", "/monitoring/api/queues", "/monitoring/static/js/none.js"} {
		a := newApp(t, embedded(t), monitored(false)) // more wrong passwords are slowed down
		for name, authorization := range map[string]string{
			"nothing": "", "another password": basic(operator, "x"), "another user": basic("x", password),
			"an empty password": basic(operator, ""), "swapped": basic(password, operator), "an API key": "Bearer " + strings.Repeat("x", 30),
		} {
			scenario{
				name: name, url: url, headers: map[string]string{"Authorization": authorization},
				status: 401, want: challenge, has: []string{`"code":"login_required"`},
			}.run(t, a)
		}
	}
	a := newApp(t, embedded(t), monitored(false))
	visit("its name alone", http.MethodGet, "/monitoringx", 404).run(t, a)
}

func TestMonitoringShowsPayloadsReadably(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		a := newApp(t, conn, monitored(false))
		id := a.submit(t, "/kiswahili/magari?ada=1&b=<2>")
		got := a.send(t, a.operator(t, http.MethodGet, "/monitoring/api/queues/any/pending_tasks"))
		var list struct {
			Tasks []struct {
				Payload string `json:"payload"`
			} `json:"tasks"`
		}
		if err := json.Unmarshal([]byte(got.body), &list); err != nil || len(list.Tasks) != 1 {
			t.Fatalf("%v\n%s", err, got.body)
		}
		var payload struct {
			Job string `json:"job"`
		}
		if err := json.Unmarshal([]byte(list.Tasks[0].Payload), &payload); err != nil || payload.Job != id {
			t.Errorf("payload %q: %v", list.Tasks[0].Payload, err)
		}
	})
}

func (a *app) operator(t *testing.T, method, url string) *http.Request {
	t.Helper()
	r := a.request(t, method, url, "")
	r.SetBasicAuth(operator, password)
	return r
}

func TestMonitoringIsReadOnlyUnlessWritable(t *testing.T) {
	const pause = "/monitoring/api/queues/any:pause"
	for _, c := range []struct {
		writable  bool
		scenarios []scenario
	}{
		{false, []scenario{
			visit("page", http.MethodGet, "/monitoring", 200),
			visit("queues", http.MethodGet, "/monitoring/api/queues", 200),
			visit("pause", http.MethodPost, pause, 405),
			visit("from another site", http.MethodPost, pause, 403).from("cross-site"),
		}},
		{true, []scenario{
			visit("pause", http.MethodPost, pause, 204),
			visit("from the page", http.MethodPost, "/monitoring/api/queues/any:resume", 204).from("same-origin"),
			visit("from another site", http.MethodPost, pause, 403).from("cross-site"),
			visit("from a sister site", http.MethodDelete, "/monitoring/api/queues/any", 403).from("same-site"),
			visit("reading from another site", http.MethodGet, "/monitoring/api/queues", 200).from("cross-site"),
		}},
	} {
		a := newApp(t, embedded(t), monitored(c.writable))
		a.submit(t, "/1") // there is no queue before its first task
		for _, s := range c.scenarios {
			t.Run(s.name, func(t *testing.T) { s.run(t, a) })
		}
	}
}

// TestMonitoringPolicyFitsThePage has every script of the page admitted by
// name or by digest, and nothing else.
func TestMonitoringPolicyFitsThePage(t *testing.T) {
	for _, writable := range []bool{false, true} {
		a := newApp(t, embedded(t), monitored(writable))
		page := a.send(t, a.operator(t, http.MethodGet, "/monitoring/queues/any"))
		policy := page.header.Get("Content-Security-Policy")
		scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page.body, -1)
		if len(scripts) != 2 || strings.Count(page.body, "<script src=\"/monitoring/static/js/") != 2 {
			t.Fatalf("the page has other scripts than it had:\n%.3000s", page.body)
		}
		for _, script := range scripts {
			digest := sha256.Sum256([]byte(script[1]))
			if want := "'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'"; !strings.Contains(policy, want) {
				t.Errorf("no %s in %s", want, policy)
			}
		}
		unsafe := regexp.MustCompile(`script-src [^;]*'unsafe`).MatchString(policy)
		if unsafe || !strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("policy is too wide: %s", policy)
		}
	}
}

func TestMonitoringNeedsUserAndQueue(t *testing.T) {
	a := newApp(t, embedded(t), nil)
	options := api.Options{
		Redis: a.conn.Client(), Jobs: a.jobs, Hub: a.hub, Tasks: a.tasks, Keys: a.keys, Cache: a.cache, TRA: authority{},
		MonitoringPassword: password,
	}
	if _, err := api.New(options); err == nil {
		t.Error("made without a user")
	}
	options.MonitoringUser = operator
	if _, err := api.New(options); err == nil {
		t.Error("made without a connection for the queue")
	}
}
