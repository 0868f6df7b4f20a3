package metrics

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type httpFamilies struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	errors    *prometheus.CounterVec
	logins    *prometheus.CounterVec
	streams   map[routeKey]bool // the known routes
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
		streams: map[routeKey]bool{},
	}
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

// AddRoute makes a route known; stream means that its responses last as long as the caller
// listens. Routes are added before the first request is counted.
func (m *Metrics) AddRoute(template, method string, stream bool) {
	if m == nil {
		return
	}
	m.http.streams[routeKey{template, method}] = stream
	if strings.HasPrefix(template, ofAPI) {
		m.http.requests.WithLabelValues(template, method, "2xx")
		m.http.requests.WithLabelValues(template, method, "5xx")
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
	stream, known := m.http.streams[routeKey{template, method}]
	if !known {
		template, method = Other, Other
	}
	class := min(max(status/100, 2), 5) //nolint:mnd // the classes of a status
	m.http.requests.WithLabelValues(template, method, strconv.Itoa(class)+"xx").Inc()
	if !stream {
		m.http.durations.WithLabelValues(template, method).Observe(seconds(took))
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
