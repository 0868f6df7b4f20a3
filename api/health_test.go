package api_test

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/drift"
	"ushuru/pkg/money"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

var statusScenarios = []scenario{
	{name: "alive", url: "/healthz", keyless: true, status: 200, exact: `{"status":"ok"}`},
	{name: "ready", url: "/readyz", keyless: true, status: 200, exact: `{"status":"ready"}`},
	{name: "alive to HEAD", method: http.MethodHead, url: "/healthz", keyless: true, status: 200},
	{
		name: "alive to POST", url: "/healthz", keyless: true, body: "{}",
		status: 405, want: map[string]string{"Allow": "GET, HEAD, OPTIONS"},
	},
	{
		name: "description", url: "/openapi.yaml", keyless: true,
		status: 200, exact: readFile("openapi.yaml"), want: map[string]string{"Content-Type": "application/yaml"},
	},
	{name: "no monitoring without a password", url: "/monitoring", status: 404, has: []string{`"code":"not_found"`}},
	{name: "nothing below it either", url: "/monitoring/api/queues", status: 404, has: []string{`"code":"not_found"`}},
	{
		name: "status before the first probe", url: "/v1/tra-status", status: 200,
		exact: `{"status":"down","checkedAt":null,"latencyMs":0,"lastSuccessAt":null,"lastFailureAt":null,` +
			`"reason":"no_worker","message":"No worker that can ask TRA's calculator is running.",` + noRules + `}`,
	},
}

func TestStatusOfTheAuthority(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 5, 9, 0, 0, 0, time.UTC)
	a := newApp(t, embedded(t), func(o *api.Options) {
		o.Status = authority{status: tra.Status{
			State: tra.Down, CheckedAt: &at, LatencyMS: 1500, LastFailureAt: &at, Breaker: "half-open", ErrorKind: tra.Refused,
		}}.Status
	})
	scenario{
		url: "/v1/tra-status", status: 200,
		exact: `{"status":"down","checkedAt":"2026-10-05T12:00:00+03:00","latencyMs":1500,"lastSuccessAt":null,` +
			`"lastFailureAt":"2026-10-05T12:00:00+03:00","breaker":"half-open","errorKind":"refused",` + noRules + `}`,
	}.run(t, a)
}

// noRules is what is said of the tax rules before an answer was checked.
const noRules = `"details":{"rulesAgree":null,"since":null,"agreesWith":[],"checked":0,"differed":0,"checkedAt":null,` +
	`"lastDifference":null}`

func TestStatusAfterAChangeOfRules(t *testing.T) {
	t.Parallel()
	conn := embedded(t)
	detector := drift.New(drift.Options{Redis: conn.Client(), Log: slog.New(slog.DiscardHandler), Now: func() time.Time {
		return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	}})
	figure := func(text string) money.Amount {
		amount, err := money.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return amount
	}
	detector.OnAnswer(t.Context(), nil, vehicle.Tax{ // an answer of nothing but a total
		ReferenceNumber: "1", YOM: 2020, FuelType: "PETROL", EngineCapacity: "1001 - 1500 CC", CIFInUSD: figure("1000"),
		TotalImportTaxesInUSD: figure("10"), TotalImportTaxesInTZS: figure("26000"),
	})
	scenario{
		url: "/v1/tra-status", status: 200,
		has: []string{
			`"details":{"rulesAgree":false,"since":"2026-11-21T12:00:00+03:00","rules":"2026-07-01","agreesWith":[],"checked":1`,
			`{"line":"importDutyInUSD","authority":"0.00","computed":"250.00"}`,
		},
	}.run(t, newApp(t, conn, nil))
}

func readFile(name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestOpenAPIDocHasAnETag(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	tag := a.send(t, a.request(t, http.MethodGet, "/openapi.yaml", "")).header.Get("ETag")
	if tag == "" {
		t.Fatal("no ETag")
	}
	scenario{url: "/openapi.yaml", headers: map[string]string{"If-None-Match": tag}, status: 304}.run(t, a)
	scenario{url: "/openapi.yaml", headers: map[string]string{"If-None-Match": `"other"`}, status: 200}.run(t, a)
}

func TestStatusThatCannotBeRead(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Status = authority{err: errors.New("secret cause")}.Status })
	scenario{
		url: "/v1/tra-status", status: 503, has: []string{`"code":"unavailable"`}, hasNot: []string{"secret"},
		want: map[string]string{"Retry-After": "2"},
	}.run(t, a)
	if line := a.log.wait(t, "status", float64(503)); line["error"] != "unavailable: secret cause" || line["level"] != "ERROR" {
		t.Errorf("log line %v", line)
	}
}
