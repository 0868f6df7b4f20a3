package client_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"ushuru/pkg/client"
	"ushuru/pkg/vehicle"
)

// operations calls the methods of the client. The key is the operation of openapi.yaml
// that a method is for.
var operations = map[string]func(context.Context, *client.Client){
	"POST /v1/estimate": func(ctx context.Context, c *client.Client) { _, _ = c.Estimate(ctx, client.EstimateRequest{}) },
	"POST /v1/quote":    func(ctx context.Context, c *client.Client) { _, _ = c.Quote(ctx, client.QuoteRequest{}) },
	"POST /v1/compare":  func(ctx context.Context, c *client.Client) { _, _ = c.Compare(ctx, client.CompareRequest{}) },
	"POST /v1/condition-report": func(ctx context.Context, c *client.Client) {
		_, _ = c.ConditionReport(ctx, client.ReportRequest{File: []byte("image"), Name: "sheet.jpg"})
	},
	"GET /v1/condition-report/{id}/map.svg": func(ctx context.Context, c *client.Client) { _, _ = c.DamageMap(ctx, "id") },
	"GET /v1/vehicles/{modelBody}/years": func(ctx context.Context, c *client.Client) {
		_, _ = c.ModelYears(ctx, client.YearsQuery{ModelBody: "id"})
	},
	"POST /v1/batches": func(ctx context.Context, c *client.Client) {
		_, _ = c.CreateBatchFromTable(ctx, client.BatchTable{Type: "text/csv"}, "key")
	},
	"GET /v1/batches/{id}": func(ctx context.Context, c *client.Client) { _, _ = c.Batch(ctx, "id") },
	"GET /v1/jobs": func(ctx context.Context, c *client.Client) {
		client.List[client.ListedJob](ctx, c, "/v1/jobs", "jobs", nil)(func(*client.ListedJob, error) bool { return false })
	},
	"GET /v1/jobs/{id}": func(ctx context.Context, c *client.Client) {
		path, _ := client.JobPath("id", client.Terms{})
		_, _ = client.Follow[client.Job](ctx, c, path)
	},
	"DELETE /v1/jobs/{id}": func(ctx context.Context, c *client.Client) {
		_, _ = client.Send[client.Job](ctx, c, "DELETE /v1/jobs/id", nil)
	},
	"POST /v1/jobs/{id}/retry": func(ctx context.Context, c *client.Client) {
		_, _ = client.Send[client.Job](ctx, c, "POST /v1/jobs/id/retry", nil)
	},
	"GET /v1/tra-status": func(ctx context.Context, c *client.Client) { _, _ = c.TRAStatus(ctx) },
	"GET /readyz":        func(ctx context.Context, c *client.Client) { _ = c.Ready(ctx) },
}

// recorder answers every request with an error and records it.
type recorder struct{ requests []*http.Request }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.requests = append(r.requests, request)
	return &http.Response{StatusCode: http.StatusTeapot, Body: io.NopCloser(strings.NewReader(`{"error":"no"}`))}, nil
}

// Every method sends one request that openapi.yaml describes: to the path, with the key, in
// the language, and a POST that creates something with an Idempotency-Key: equal requests of
// the others share one job.
func TestEveryMethodIsAnOperation(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range operations {
		method, path, _ := strings.Cut(name, " ")
		if item := doc.Paths.Value(path); item == nil || item.GetOperation(method) == nil {
			t.Errorf("%s is not in openapi.yaml", name)
		}
		var sent recorder
		c, err := client.New(client.Options{URL: "http://api.example", Key: "secret", Language: "sw", Transport: &sent})
		if err != nil {
			t.Fatal(err)
		}
		do(t.Context(), c)
		if len(sent.requests) != 1 {
			t.Errorf("%s: %d requests", name, len(sent.requests))
			continue
		}
		r := sent.requests[0]
		want := "^" + regexp.MustCompile(`\{[a-zA-Z]+\}`).ReplaceAllString(name, "id") + "$"
		if got := r.Method + " " + r.URL.Path; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: sent %s", name, got)
		}
		if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Query().Get("lang") != "sw" {
			t.Errorf("%s: %v %v", name, r.URL, r.Header)
		}
		shares := slices.Contains([]string{
			"/v1/estimate", "/v1/quote", "/v1/compare", "/v1/condition-report",
		}, r.URL.Path)
		if r.Method == http.MethodPost && shares == (r.Header.Get("Idempotency-Key") != "") {
			t.Errorf("%s: Idempotency-Key %q", name, r.Header.Get("Idempotency-Key"))
		}
	}
}

// The types read only what the schemas have, and a request can say all that the command line offers.
func TestTypesHaveTheFieldsOfTheSchemas(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	isRequest := func(schema string) bool { return strings.HasSuffix(schema, "Request") }
	// The language is that of the client; the rest no command has.
	notOffered := []string{"lang", "destination", "byMonth", "metadata", "webhook", "QuoteRequest known"}
	for schema, value := range map[string]any{
		"Job": client.Job{}, "Progress": client.Progress{}, "Batch": client.Batch{}, "BatchItem": client.BatchItem{},
		"InvalidRow": client.InvalidRow{}, "WebhookWithSecret": client.Webhook{}, "Delivery": client.Delivery{},
		"AuthorityStatus": client.TRAStatus{}, "ModelYears": vehicle.ModelYears{}, "QuoteRequest": client.QuoteRequest{},
		"CompareRequest": client.CompareRequest{}, "EstimateRequest": client.EstimateRequest{}, "WebhookRequest": client.WebhookRequest{},
	} {
		described := doc.Components.Schemas[schema]
		if described == nil {
			t.Errorf("%s is not in openapi.yaml", schema)
			continue
		}
		names := jsonNames(value)
		for name := range names {
			if !isRequest(schema) && name != "-" && described.Value.Properties[name] == nil {
				t.Errorf("%T has a field %q that %s has not", value, name, schema)
			}
		}
		for name := range described.Value.Properties {
			offered := !slices.Contains(notOffered, name) && !slices.Contains(notOffered, schema+" "+name)
			if isRequest(schema) && offered && !names[name] {
				t.Errorf("%T has no field %q of %s", value, name, schema)
			}
		}
	}
}
