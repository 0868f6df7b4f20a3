package cli

import "testing"

func TestTraceSettings(t *testing.T) {
	for endpoint, want := range map[string]string{
		"": "", "http://host:4318": "http://host:4318/v1/traces", "https://host/x/": "https://host/x/v1/traces",
	} {
		if got, err := (traceConfig{TraceEndpoint: endpoint}).options(); err != nil || got.URL != want {
			t.Errorf("%q: %q, %v, want %q", endpoint, got.URL, err, want)
		}
	}
	for _, endpoint := range []string{"host:4318", "ftp://host", "http://"} {
		if got, err := (traceConfig{TraceEndpoint: endpoint}).options(); err == nil {
			t.Errorf("%q is taken: %q", endpoint, got.URL)
		}
	}
}
