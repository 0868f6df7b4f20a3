package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"ushuru/api"
	"ushuru/pkg/fetch/fetchtest"
	"ushuru/pkg/testenv"
)

// addressFields say how a URL is sent through every field of a request that takes
// one: the path, and a body of JSON unless it is empty.
var addressFields = map[string]func(shape string) (path, body string){
	"/v1/bill-check url": func(shape string) (string, string) {
		return "/v1/bill-check", asJSON(map[string]any{"text": "Wharfage 450,000", "url": shape})
	},
	"/v1/estimate url": func(shape string) (string, string) { return "/v1/estimate", withURL("url", shape) },
	"/v1/compare url1": func(shape string) (string, string) {
		return "/v1/compare", asJSON(map[string]any{"url1": shape, "url2": site + "/ssrf"})
	},
	"/v1/compare url2": func(shape string) (string, string) {
		return "/v1/compare", asJSON(map[string]any{"url1": site + "/ssrf", "url2": shape})
	},
	"/v1/condition-report url":     func(shape string) (string, string) { return "/v1/condition-report", withURL("url", shape) },
	"/v1/estimate webhook":         withWebhook("/v1/estimate", "url"),
	"/v1/compare webhook":          withWebhook("/v1/compare", "url1", "url2"),
	"/v1/condition-report webhook": withWebhook("/v1/condition-report", "url"),
	"/v1/bill-check webhook": func(shape string) (string, string) {
		return "/v1/bill-check", asJSON(map[string]any{"text": "Wharfage 450,000", "webhook": secure(shape)})
	},
	"/v1/quote webhook": func(shape string) (string, string) {
		return "/v1/quote", asJSON(map[string]any{"make": "TOYOTA", "model": "IST", "year": 2016, "webhook": secure(shape)})
	},
	"/v1/batches urls": func(shape string) (string, string) {
		return "/v1/batches", asJSON(map[string]any{"urls": []string{shape}})
	},
	"/v1/batches items.url": func(shape string) (string, string) {
		return "/v1/batches", asJSON(map[string]any{"items": []any{map[string]string{"url": shape}}})
	},
	"/v1/batches webhook": func(shape string) (string, string) {
		return "/v1/batches", asJSON(map[string]any{"urls": []string{site + "/ssrf"}, "webhook": secure(shape)})
	},
	"/v1/batches ?webhook": func(shape string) (string, string) {
		return "/v1/batches?webhook=" + url.QueryEscape(secure(shape)), "url\n" + site + "/ssrf\n"
	},
	"/v1/batches text/csv": func(shape string) (string, string) {
		return "/v1/batches", "url\n\"" + strings.ReplaceAll(shape, `"`, `""`) + "\"\n"
	},
	"/v1/webhooks url": func(shape string) (string, string) {
		return "/v1/webhooks", asJSON(map[string]any{"url": secure(shape), "events": []string{"job.completed"}})
	},
	"/v1/webhooks/{id} url": func(shape string) (string, string) { return "/v1/webhooks/wh0", withURL("url", secure(shape)) },
}

// withWebhook is a request about listings whose events go to a shape: only ids of webhooks are taken.
func withWebhook(path string, urls ...string) func(shape string) (string, string) {
	return func(shape string) (string, string) {
		body := map[string]any{"webhook": secure(shape)}
		for i, name := range urls {
			body[name] = fmt.Sprint(site, "/ssrf", i)
		}
		return path, asJSON(body)
	}
}

// methodOf is how a path of addressFields is requested.
func methodOf(path string) string {
	if strings.HasPrefix(path, "/v1/webhooks/") {
		return http.MethodPatch // the URL is checked before the webhook is looked up
	}
	return http.MethodPost
}

func withURL(name, shape string) string { return asJSON(map[string]any{name: shape}) }

func asJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// secure makes the refusal of plain http not the reason.
func secure(shape string) string {
	if rest, plain := strings.CutPrefix(shape, "http://"); plain {
		return "https://" + rest
	}
	return shape
}

// Every shape is refused in every field of openapi.yaml that takes a URL. A new
// field fails the test until addressFields has it.
func TestAttackSSRFShapesInEveryField(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	fields := fieldsWithURLs(t, document)
	for field := range addressFields {
		if !slices.Contains(fields, field) {
			t.Errorf("openapi.yaml has no field %q", field)
		}
	}
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits.PerMinute = 0 })
	refused := regexp.MustCompile(`"code":"(url_forbidden|url_invalid|url_missing|url_unsupported|sheet_host_unsupported|csv_invalid|rows_invalid)"|"field":"webhook"`)
	sent := 0
	step := 3 // in the short form every shape goes through a third of the fields
	if os.Getenv("USHURU_ATTACK") == "full" {
		step = 1
	}
	for n, field := range fields {
		request := addressFields[field]
		if request == nil {
			t.Errorf("no shape is sent through the field %q of openapi.yaml", field)
			continue
		}
		for i, shape := range fetchtest.Shapes() {
			if (i+n)%step != 0 {
				continue
			}
			path, body := request(shape)
			r := a.request(t, methodOf(path), path, body)
			r.Header.Set("Content-Type", "application/json")
			if !strings.HasPrefix(body, "{") {
				r.Header.Set("Content-Type", "text/csv")
			}
			got := a.send(t, r)
			sent++
			if got.status != http.StatusBadRequest || !refused.MatchString(got.body) {
				t.Errorf("%s: %.100q: %d %.200s", field, shape, got.status, got.body)
			}
		}
	}
	t.Logf("%d requests", sent)
	if waiting, err := a.conn.Client().Keys(t.Context(), "asynq:*:t:*").Result(); err != nil || len(waiting) > 0 {
		t.Errorf("tasks were made: %v, %v", waiting, err)
	}
}

// fieldsWithURLs returns the fields of all requests that take a URL, by path and
// name. A table has none in the document: its column is one.
func fieldsWithURLs(t *testing.T, document *openapi3.T) (fields []string) {
	t.Helper()
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			for _, parameter := range slices.Concat(item.Parameters, operation.Parameters) {
				if takesURL(parameter.Value.Name, parameter.Value.Schema.Value) {
					fields = append(fields, path+" ?"+parameter.Value.Name)
				}
			}
			if operation.RequestBody == nil {
				continue
			}
			if method != methodOf(path) {
				t.Errorf("%s %s has a body, and the test does not send it", method, path)
			}
			for mediaType, content := range operation.RequestBody.Value.Content {
				if mediaType == "text/csv" {
					fields = append(fields, path+" text/csv")
				}
				fields = append(fields, urlsIn(path+" ", content.Schema.Value)...)
			}
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// urlsIn returns the properties of a schema that take a URL.
func urlsIn(prefix string, schema *openapi3.Schema) (fields []string) {
	for name, property := range schema.Properties {
		value := property.Value
		if items := value.Items; items != nil {
			value = items.Value
		}
		if takesURL(name, value) {
			fields = append(fields, prefix+name)
		}
		fields = append(fields, urlsIn(prefix+name+".", value)...)
	}
	for _, one := range slices.Concat(schema.AnyOf, schema.OneOf, schema.AllOf) {
		fields = append(fields, urlsIn(prefix, one.Value)...)
	}
	return fields
}

// takesURL goes by the format and by the name, so that a field without a format is
// found too.
func takesURL(name string, schema *openapi3.Schema) bool {
	named := regexp.MustCompile(`(?i)(url|uri|link|href|webhook|callback|endpoint|address|image|picture)s?\d*$`)
	return strings.HasPrefix(schema.Format, "uri") || schema.Type.Includes("string") && named.MatchString(name)
}
