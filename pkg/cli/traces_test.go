package cli

import (
	"strings"
	"testing"
)

func TestTraceSettings(t *testing.T) {
	for _, test := range []struct {
		config  traceConfig
		url     string
		headers int
		failure string
	}{
		{config: traceConfig{}},
		{config: traceConfig{TraceEndpoint: "http://host:4318"}, url: "http://host:4318/v1/traces"},
		{config: traceConfig{TraceEndpoint: "http://host:4318/", TraceURL: "https://other/x"}, url: "https://other/x"},
		{config: traceConfig{TraceEndpoint: "http://host:4318", TraceOff: true}},
		{config: traceConfig{TraceEndpoint: "host:4318"}, failure: "OTEL_EXPORTER_OTLP_ENDPOINT must be"},
		{config: traceConfig{TraceURL: "ftp://host"}, failure: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be"},
		{config: traceConfig{TraceURL: "http://host/x", TraceHeaders: "a=b%20c, d=e"}, url: "http://host/x", headers: 2},
		{config: traceConfig{TraceURL: "http://host/x", TraceHeaders: "a"}, failure: "OTEL_EXPORTER_OTLP_HEADERS must be"},
	} {
		got, err := test.config.options()
		if test.failure != "" && (err == nil || !strings.Contains(err.Error(), test.failure)) || test.failure == "" && err != nil {
			t.Errorf("%+v: %v", test.config, err)
		}
		if got.URL != test.url || len(got.Headers) != test.headers || test.headers > 0 && got.Headers["a"] != "b c" {
			t.Errorf("%+v: %+v", test.config, got)
		}
	}
}
