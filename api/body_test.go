package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func badRequest(name, body, code string) scenario {
	return scenario{
		name: name, method: http.MethodPost, url: "/v1/estimate", body: body,
		status: 400, has: []string{`"code":"` + code + `"`, "https://"},
	}
}

func mediaType(name, value string, status int) scenario {
	s := scenario{
		name: name, url: "/v1/estimate", headers: map[string]string{"Content-Type": value},
		body: `{"url":""}`, status: status,
	}
	if status == http.StatusUnsupportedMediaType {
		s.has = []string{`"code":"unsupported_media_type"`, "application/json"}
	}
	return s
}

// requestScenarios are requests that are refused for their form alone.
var requestScenarios = []scenario{
	badRequest("no body", "", "invalid_json"),
	badRequest("not UTF-8", "{\"url\":\"https://cars.example/\xff\"}", "invalid_json"),
	badRequest("no url", `{"uri":"https://cars.example/1"}`, "url_missing"),
	{
		name: "url is not a URL", url: "/v1/estimate", body: `{"url":"my car"}`,
		status: 400, has: []string{`"code":"url_invalid"`},
	},
	{
		name: "url of a private address", url: "/v1/estimate", body: `{"url":"http://192.168.1.1/car"}`,
		status: 400, has: []string{`"code":"url_forbidden"`}, hasNot: []string{"192.168"},
	},
	{
		name: "body of 8 MB", url: "/v1/estimate", body: `{"url":""}` + strings.Repeat(" ", 8<<20-10),
		status: 400, has: []string{`"code":"url_missing"`},
	},
	{
		name: "body above 8 MB", url: "/v1/estimate", body: `{"url":""}` + strings.Repeat(" ", 8<<20-9),
		status: 413, has: []string{`"code":"body_too_large"`},
	},
	mediaType("JSON in another charset", "application/json; charset=utf-16", 415),
	{
		name: "compressed body", url: "/v1/estimate", headers: map[string]string{"Content-Encoding": "br"}, body: "x",
		status: 415, has: []string{`"code":"unsupported_media_type"`},
	},
	{
		name: "another method", method: http.MethodGet, url: "/v1/estimate",
		status: 405, want: map[string]string{"Allow": "OPTIONS, POST"}, has: []string{`"code":"method_not_allowed"`},
	},
	{
		name: "another method on a reading address", method: http.MethodDelete, url: "/v1/tra-status",
		status: 405, want: map[string]string{"Allow": "GET, HEAD, OPTIONS"}, has: []string{`"code":"method_not_allowed"`},
	},
	{
		name: "OPTIONS", method: http.MethodOptions, url: "/v1/estimate",
		status: 204, want: map[string]string{"Allow": "OPTIONS, POST", "Access-Control-Allow-Origin": ""},
	},
	{
		name: "HEAD", method: http.MethodHead, url: "/v1/tra-status",
		status: 200, want: map[string]string{"Content-Type": "application/json"},
	},
	{name: "HEAD of an address for POST", method: http.MethodHead, url: "/v1/estimate", status: 405},
	{name: "unknown path", url: "/nowhere", keyless: true, status: 404, has: []string{`"code":"not_found"`}},
	{name: "trailing slash", url: "/v1/estimate/", status: 404, has: []string{`"code":"not_found"`}},
	{name: "doubled slash", url: "//v1/estimate", status: 404, has: []string{`"code":"not_found"`}},
	{
		name: "sane request id", url: "/healthz", headers: map[string]string{"X-Request-ID": "a-B_3.z"},
		status: 200, want: map[string]string{"X-Request-ID": "a-B_3.z"},
	},
	{
		name: "headers of every answer", url: "/nowhere", status: 404,
		want: map[string]string{
			"Content-Type": "application/json", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "X-Simulated": "",
		},
	},
}

func TestInvalidRequestIDIsReplaced(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	seen := map[string]bool{}
	for _, sent := range []string{"", "two words", strings.Repeat("x", 65), `{"a":1}`} {
		r := a.request(t, http.MethodGet, "/healthz", "")
		r.Header.Set("X-Request-ID", sent)
		id := a.send(t, r).header.Get("X-Request-ID")
		if id == sent || len(id) < 20 || seen[id] {
			t.Errorf("sent %q, got %q", sent, id)
		}
		seen[id] = true
	}
}
