package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"ushuru/api"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

const operator, password = "operator", "correct horse"

// monitored gives an API an operator.
func monitored(o *api.Options) { o.MonitoringUser, o.MonitoringPassword = operator, password }

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

func TestMonitoringShowsPayloadsReadably(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		a := newApp(t, conn, monitored)
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
