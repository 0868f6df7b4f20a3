package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// scenario is one request and the answer that it must get.
type scenario struct {
	name    string
	method  string // POST when there is a body, else GET
	url     string
	headers map[string]string // a good key is added unless keyless; {id} stands for the id of before
	keyless bool
	body    string
	before  func(t *testing.T, a *app) (id string) // sets the stage; id replaces {id} in url

	status int
	want   map[string]string // headers; "" for one that must be absent
	exact  string            // the whole body
	has    []string          // pieces of the body
	hasNot []string
}

func (s scenario) run(t *testing.T, a *app) {
	id := ""
	if s.before != nil {
		id = s.before(t, a)
	}
	method := s.method
	if method == "" {
		method = http.MethodGet
		if s.body != "" {
			method = http.MethodPost
		}
	}
	fill := strings.NewReplacer("{id}", id, "{key}", a.key)
	r := a.request(t, method, fill.Replace(s.url), s.body)
	if s.keyless {
		r.Header.Del("X-Api-Key")
	}
	for name, value := range s.headers {
		r.Header.Set(name, fill.Replace(value))
	}
	s.check(t, a.send(t, r), fill)
}

func (s scenario) check(t *testing.T, got answer, fill *strings.Replacer) {
	t.Helper()
	if got.status != s.status {
		t.Errorf("status %d, want %d\n%s", got.status, s.status, got.body)
	}
	for _, name := range slices.Sorted(maps.Keys(s.want)) {
		want := fill.Replace(s.want[name])
		if value := got.header.Get(name); value != want {
			t.Errorf("header %s: %q, want %q", name, value, want)
		}
	}
	body := strings.Replace(got.body, `,"request":"`+got.header.Get("X-Request-ID")+`"`, "", 1) // it is never the same
	if s.exact != "" && body != s.exact {
		t.Errorf("body\n%s\nwant\n%s", body, s.exact)
	}
	for _, piece := range s.has {
		if piece = fill.Replace(piece); !strings.Contains(got.body, piece) {
			t.Errorf("no %s in the body\n%s", piece, got.body)
		}
	}
	for _, piece := range s.hasNot {
		if piece = fill.Replace(piece); strings.Contains(got.body, piece) {
			t.Errorf("%s in the body\n%s", piece, got.body)
		}
	}
}

// TestScenarios runs every table on a real Redis, in the long tier on every kind.
func TestScenarios(t *testing.T) {
	tables := []struct {
		name      string
		scenarios []scenario
	}{
		{"auth", authScenarios},
		{"requests", requestScenarios},
		{"estimate", estimateScenarios},
		{"pasted", pastedScenarios},
		{"chosen", chosenScenarios},
		{"quote", quoteScenarios},
		{"bill", billScenarios},
		{"rate", rateScenarios},
		{"terms", termsScenarios},
		{"explain", explainScenarios},
		{"compare", compareScenarios},
		{"condition report", reportScenarios},
		{"jobs", jobScenarios},
		{"batches", batchScenarios},
		{"batch requests", batchRequestScenarios},
		{"cancel", cancelScenarios},
		{"idempotency", idempotencyScenarios},
		{"webhooks", webhookScenarios},
		{"corners", cornerScenarios},
		{"status", statusScenarios},
	}
	run := func(t *testing.T, conn *redisx.Conn) {
		a := newApp(t, conn, nil)
		a.work(t)
		for _, table := range tables {
			for _, s := range table.scenarios {
				t.Run(table.name+"/"+s.name, func(t *testing.T) { s.run(t, a) })
			}
		}
	}
	if testenv.IsLong() {
		redistest.Each(t, run)
		return
	}
	t.Parallel()
	run(t, redistest.Open(t, redistest.Start(t).URL))
}
