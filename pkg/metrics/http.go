package metrics

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ofAPI begins the templates of the routes of the API itself, as in the alert for its errors.
const ofAPI = "/v1/"

type routeKey struct{ template, method string }

// AddRoute makes a route known; stream means that its responses last as long as the caller
// listens. Routes are added before the first request is counted.
func (m *Metrics) AddRoute(template, method string, stream bool) {
	if m == nil {
		return
	}
	m.streams[routeKey{template, method}] = stream
	if strings.HasPrefix(template, ofAPI) {
		m.counters["http_requests_total"].WithLabelValues(template, method, "2xx")
		m.counters["http_requests_total"].WithLabelValues(template, method, "5xx")
	}
}

// Request counts a request that was answered. A route or method that was not added is
// other. HEAD counts as GET.
func (m *Metrics) Request(template, method string, status int, code string, took time.Duration) {
	if m == nil {
		return
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	stream, known := m.streams[routeKey{template, method}]
	if !known {
		template, method = Other, Other
	}
	class := min(max(status/100, 2), 5) //nolint:mnd // the classes of a status
	m.counters["http_requests_total"].WithLabelValues(template, method, strconv.Itoa(class)+"xx").Inc()
	if !stream {
		m.observe("http_request_duration_seconds", took, template, method)
	}
	code = m.bound("code", code)
	if code != "" {
		m.Count("http_errors_total", code)
	}
	if strings.HasPrefix(template, ofAPI) {
		answer := Call{To: API, Name: answers, Took: took}
		if class == 5 { //nolint:mnd // an error of ours
			answer.Kind = cmp.Or(code, Other)
		}
		m.options.Recorder.call(answer)
	}
}
