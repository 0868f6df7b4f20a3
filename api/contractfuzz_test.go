package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/webhook"
)

var (
	fuzzRequests = flag.Int("contract.requests", testenv.Pick(300, 60), "requests of TestContractHoldsForGeneratedRequests")
	fuzzSeed     = flag.Uint64("contract.seed", 1, "seed of the requests")
)

// generator makes requests of openapi.yaml: mostly as it says, and some wrong ones.
type generator struct {
	*rand.Rand

	// ids are values of path parameters that exist, by the resource and the name of the
	// parameter.
	ids map[string][]string
}

// restockAfter is after how many requests there are new resources: some delete theirs.
const restockAfter = 100

// stock makes resources of every kind for the generator: jobs that wait, have succeeded
// and have failed, batches that run and have ended, a webhook with deliveries, a report.
func (g *generator) stock(t *testing.T, a *app) {
	t.Helper()
	hooks := webhook.NewStore(a.conn.Client(), nil)
	all, err := hooks.List(t.Context(), a.keyID)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if err := hooks.Remove(t.Context(), a.keyID, e.ID); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string // several: requests delete some
	for i := range 4 {
		hook, _, err := hooks.Add(t.Context(), a.keyID, webhook.NewID(), fmt.Sprint("https://receiver.example/", i), webhook.Events())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, hook.ID)
	}
	sent, err := hooks.Test(t.Context(), a.keyID, ids[0], strconv.FormatUint(g.Uint64(), 36), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	g.ids = map[string][]string{
		"jobs/id":             {a.submitted(t, hangs), a.submitted(t, fmt.Sprint("/fuzz/", g.IntN(1e9))), a.submitted(t, forbidden), a.submit(t, noMatch)},
		"batches/id":          {batchOf("sf")(t, a), batchOf("sfrw=x")(t, a)},
		"webhooks/id":         ids,
		"webhooks/delivery":   {sent.ID},
		"condition-report/id": {keepReading(t, a)},
		"vehicles/modelBody":  {"IST - NCP110 - HATCHBACK", "VITZ - NCP131 - HATCHBACK"},
	}
}

// id returns a value of a path parameter, mostly one that exists.
func (g *generator) id(path string, p *openapi3.Parameter) string {
	resource := strings.Split(path, "/")[2]
	if ids := g.ids[resource+"/"+p.Name]; len(ids) > 0 && g.IntN(8) > 0 {
		return ids[g.IntN(len(ids))]
	}
	return text(g.value(p.Name, p.Schema, 0))
}

// hostile are values that belong to no field.
func (g *generator) hostile() any {
	return []any{
		nil, true, -1, 1e300, 0.5, "", " ", "\x00", "ž\u202e'\"<script>", strings.Repeat("x", 5000),
		[]any{},
		[]any{nil, 1},
		map[string]any{},
		map[string]any{"x": nil},
		"http://127.0.0.1/", "../../etc", "null", "1e9", "=1+1",
	}[g.IntN(19)]
}

func (g *generator) value(name string, ref *openapi3.SchemaRef, depth int) any {
	if ref == nil || ref.Value == nil || depth > 6 || g.IntN(12) == 0 {
		return g.hostile()
	}
	s := ref.Value
	if either := slices.Concat(s.OneOf, s.AnyOf); len(either) > 0 {
		return g.value(name, either[g.IntN(len(either))], depth+1)
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[g.IntN(len(s.Enum))]
	case strings.HasPrefix(strings.ToLower(name), "url"):
		return fmt.Sprintf("%s/%d", site, g.IntN(5))
	case s.Type.Includes("object"):
		object := map[string]any{}
		for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, property) && g.IntN(15) > 0 || g.IntN(4) == 0 {
				object[property] = g.value(property, s.Properties[property], depth+1)
			}
		}
		return object
	case s.Type.Includes("array"):
		list := make([]any, g.IntN(4))
		for i := range list {
			list[i] = g.value(name, s.Items, depth+1)
		}
		return list
	case s.Type.Includes("integer"):
		return g.IntN(4000)
	case s.Type.Includes("number"):
		return float64(g.IntN(40000)) / 4
	case s.Type.Includes("boolean"):
		return g.IntN(2) == 0
	}
	return []string{"toyota", "2027-01-06", "petrol", "NKE165", "a"}[g.IntN(5)]
}

func text(value any) string {
	if s, is := value.(string); is {
		return s
	}
	raw, _ := json.Marshal(value)
	return string(raw)
}

// request makes a request of an operation.
func (g *generator) request(ctx context.Context, base, method, path string, item *openapi3.PathItem, o *openapi3.Operation) (*http.Request, error) {
	query, header := url.Values{}, http.Header{}
	for _, p := range slices.Concat(item.Parameters, o.Parameters) {
		if p.Value.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(g.id(path, p.Value)))
			continue
		}
		switch value := text(g.value(p.Value.Name, p.Value.Schema, 0)); {
		case p.Value.In == "query" && g.IntN(3) == 0:
			query.Set(p.Value.Name, value)
		case p.Value.In == "header" && g.IntN(3) == 0 && !strings.ContainsAny(value, "\x00\r\n"):
			header.Set(p.Value.Name, value)
		}
	}
	var body io.Reader
	if o.RequestBody != nil {
		content := o.RequestBody.Value.Content
		kinds := slices.Sorted(maps.Keys(content))
		kind := kinds[g.IntN(len(kinds))]
		sent := text(g.value("body", content[kind].Schema, 0))
		if g.IntN(20) == 0 {
			sent = sent[:g.IntN(len(sent)+1)] // half a body
		}
		body = strings.NewReader(sent)
		header.Set("Content-Type", kind)
	}
	r, err := http.NewRequestWithContext(ctx, method, base+path+"?"+query.Encode(), body)
	if err == nil {
		r.Header = header
		r.Header.Set("Prefer", "respond-async")
	}
	return r, err
}

// twoMakes is an authority with two makes.
type twoMakes struct{}

func (twoMakes) Makes(context.Context) ([]catalogue.Make, error) {
	return []catalogue.Make{{ID: 1, Name: "TOYOTA"}, {ID: 2, Name: "MERCEDES"}}, nil
}

func (twoMakes) ModelBodies(_ context.Context, makeID int) ([]string, error) {
	if makeID == 2 {
		return []string{"C 200 - 204046 - SEDAN"}, nil
	}
	return []string{"COROLLA FIELDER - NKE165 - HYBRID - WAGON", "VITZ - NCP131 - HATCHBACK"}, nil
}

// Whatever is sent, the answer is one that openapi.yaml promises. 20,000 requests of four
// seeds: make contract.
func TestContractHoldsForGeneratedRequests(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tra.NewStore(a.conn.Client(), tra.StoreOptions{}).Sync(t.Context(), tra.Lister{Makes: twoMakes{}.Makes, ModelBodies: twoMakes{}.ModelBodies}); err != nil {
		t.Fatal(err)
	}
	a.work(t)
	go func() { // so that the worker does not wait
		for t.Context().Err() == nil {
			select {
			case <-a.taken:
			case <-t.Context().Done():
			}
		}
	}()
	g := generator{Rand: rand.New(rand.NewPCG(*fuzzSeed, 2))}
	paths := slices.Sorted(maps.Keys(document.Paths.Map()))
	statuses := map[int]int{}
	for i := range *fuzzRequests {
		if i%restockAfter == 0 {
			g.stock(t, a)
		}
		path := paths[g.IntN(len(paths))]
		item := document.Paths.Value(path)
		methods := slices.Sorted(maps.Keys(item.Operations()))
		method := methods[g.IntN(len(methods))]
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if strings.HasSuffix(path, "/events") {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		}
		r, err := g.request(ctx, a.URL, method, path, item, item.Operations()[method])
		if err == nil {
			if g.IntN(20) > 0 {
				r.Header.Set("Authorization", "Bearer "+a.key)
			}
			statuses[a.fuzz(t, r)]++
		}
		cancel()
	}
	t.Logf("seed %d, answers by status: %v", *fuzzSeed, statuses)
	if share := float64(statuses[http.StatusNotFound]) / float64(*fuzzRequests); share > maxNotFound {
		t.Errorf("%.0f %% of the requests met nothing", 100*share)
	}
	if *fuzzRequests >= 300 && (statuses[http.StatusAccepted]+statuses[http.StatusOK] == 0 || statuses[http.StatusBadRequest] == 0) {
		t.Error("the requests are all good or all bad")
	}
}

// maxNotFound is the largest share of requests that find nothing.
const maxNotFound = 0.15

// fuzz sends a request and compares the answer with the contract.
func (a *app) fuzz(t *testing.T, r *http.Request) int {
	t.Helper()
	response, err := a.Client().Do(r)
	if errors.Is(err, context.DeadlineExceeded) {
		return 0
	}
	if err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL, err)
		return 0
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil { // a stream
		return response.StatusCode
	}
	checkContract(t, r, response, body)
	return response.StatusCode
}
