package request_test

import (
	"testing"

	"ushuru/api/request"
)

func TestMediaType(t *testing.T) {
	t.Parallel()
	const json, lines, csv = "application/json", "application/x-ndjson", "text/csv"
	for _, c := range []struct{ accept, want string }{
		{"", json},
		{"*/*", json},
		{"text/csv", csv},
		{"TEXT/CSV; charset=utf-8", csv},
		{"text/csv;q=0.5, application/json", json},
		{"text/csv;q=0.9, application/json;q=0.8", csv},
		{"application/json;q=0.1, */*", lines},
		{"text/*, application/json;q=0.5", csv},
		{"*/*;q=0.5, application/x-ndjson", lines},
		{"application/json;q=0, */*;q=0.2", lines},
		{"application/json;q=0", json}, // nothing is wanted
		{"image/png", json},
		{"text/csv;q=2, application/x-ndjson;q=0.1", lines}, // no weight is above 1
		{"text/csv;q=NaN, application/x-ndjson;q=0.1", lines},
		{";;;, text/csv", csv},
		{"application/x-ndjson, text/csv", lines}, // equally
	} {
		if got := request.MediaType([]string{c.accept}, json, lines, csv); got != c.want {
			t.Errorf("%q: %s, want %s", c.accept, got, c.want)
		}
	}
	if got := request.MediaType([]string{"application/json;q=0.5", "text/csv"}, json, csv); got != csv {
		t.Errorf("of two headers: %s", got)
	}
}
