package request

import (
	"net/http"
	"testing"
	"time"
)

func TestPreference(t *testing.T) {
	const waitMax = time.Minute
	for _, c := range []struct {
		name    string
		headers []string
		accepts bool
		timeout time.Duration
		applied string // to an answer with 202
	}{
		{"none", nil, false, waitMax, ""},
		{"asynchronous", []string{"respond-async"}, true, 0, "respond-async"},
		{"in any case", []string{"Respond-Async"}, true, 0, "respond-async"},
		{"wait", []string{"wait=5"}, true, 5 * time.Second, "wait=5"},
		{"wait in quotes and spaces", []string{` wait = "5" `}, true, 5 * time.Second, "wait=5"},
		{"both", []string{"respond-async, wait=5"}, true, 5 * time.Second, "respond-async, wait=5"},
		{"in two headers", []string{"wait=5", "respond-async"}, true, 5 * time.Second, "respond-async, wait=5"},
		{"with parameters", []string{"respond-async;x=y, wait=5; z"}, true, 5 * time.Second, "respond-async, wait=5"},
		{"the first wait counts", []string{"wait=5, wait=9"}, true, 5 * time.Second, "wait=5"},
		{"more than allowed", []string{"wait=61"}, true, waitMax, "wait=60"},
		{"more than a number holds", []string{"wait=99999999999999999999"}, false, waitMax, ""},
		{"negative", []string{"wait=-1"}, false, waitMax, ""},
		{"a fraction", []string{"wait=1.5"}, false, waitMax, ""},
		{"without a value", []string{"wait"}, false, waitMax, ""},
		{"others", []string{"handling=lenient, return=minimal"}, false, waitMax, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parsePreference(http.Header{"Prefer": c.headers}, waitMax)
			if p.Accepts() != c.accepts || p.Timeout() != c.timeout || p.Applied(true) != c.applied {
				t.Errorf("accepts %v, timeout %v, applied %q", p.Accepts(), p.Timeout(), p.Applied(true))
			}
		})
	}
}
