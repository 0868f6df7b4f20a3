package metrics

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type httpFamilies struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	errors    *prometheus.CounterVec
	logins    *prometheus.CounterVec
	routes    map[routeKey]*route
}

func (m *Metrics) addHTTP() {
	m.http = httpFamilies{
		requests: m.counters("http_requests_total",
			"Requests to the API and its pages by the template of their route and the class of the status: 2xx to 5xx.",
			"route", "method", "class"),
		durations: m.histograms("http_request_duration_seconds",
			"Time to answer a request, without the streams of events. A POST waits for its result.",
			requestBuckets, "route", "method"),
		errors: m.counters("http_errors_total", "Error responses by their code.", "code"),
		logins: m.counters("operator_logins_failed_total",
			"Failed logins of operators: wrong passwords, and attempts that were refused unseen after those.", "reason"),
		routes: map[routeKey]*route{},
	}
	for _, code := range append(m.options.Codes, Other) {
		m.http.errors.WithLabelValues(code)
	}
	for _, reason := range loginFailures {
		m.http.logins.WithLabelValues(reason)
	}
	m.AddRoute(Other, Other, false)
}

var loginFailures = []string{"wrong", "refused"}

// FailedLogin counts a failed login of an operator.
func (m *Metrics) FailedLogin(reason string) {
	if m == nil {
		return
	}
	m.http.logins.WithLabelValues(m.oneOf(loginFailures, reason)).Inc()
}

// ofAPI begins the templates of the routes of the API itself, as in the alert for its errors.
const ofAPI = "/v1/"

type routeKey struct{ template, method string }

// route has the series of one route and method.
type route struct {
	classes  [6]prometheus.Counter // by the first digit of the status
	duration prometheus.Observer   // nil for a stream
}

// AddRoute makes the series of a route; stream means that its responses last as long as
// the caller listens. Routes are added before the first request is counted.
func (m *Metrics) AddRoute(template, method string, stream bool) {
	if m == nil {
		return
	}
	r := &route{}
	for digit, class := range map[int]string{1: "1xx", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"} {
		if digit > 1 {
			r.classes[digit] = m.http.requests.WithLabelValues(template, method, class)
		}
	}
	if !stream {
		r.duration = m.http.durations.WithLabelValues(template, method)
	}
	m.http.routes[routeKey{template, method}] = r
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
	r, known := m.http.routes[routeKey{template, method}]
	if !known {
		r = m.http.routes[routeKey{Other, Other}]
	}
	class := min(max(status/100, 2), 5) //nolint:mnd // the classes of a status
	r.classes[class].Inc()
	if r.duration != nil {
		r.duration.Observe(seconds(took))
	}
	code = m.code(code)
	if code != "" {
		m.http.errors.WithLabelValues(code).Inc()
	}
	if strings.HasPrefix(template, ofAPI) {
		answer := Call{To: API, Name: answers, Took: took}
		if class == 5 { //nolint:mnd // an error of ours
			answer.Kind = cmp.Or(code, Other)
		}
		m.options.Recorder.call(answer)
	}
}
