package cli

import (
	"errors"
	"net/url"

	"ushuru/pkg/trace"
)

// traceConfig is about traces, in the variable of OpenTelemetry. Its SDK reads others from the
// environment, such as OTEL_EXPORTER_OTLP_HEADERS.
type traceConfig struct {
	TraceEndpoint string `name:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" help:"Base URL of an OpenTelemetry collector (OTLP over HTTP), such as http://localhost:4318, that gets a trace of every request; empty records none."`
}

// options returns the collector.
func (c traceConfig) options() (trace.Options, error) {
	if c.TraceEndpoint == "" {
		return trace.Options{}, nil
	}
	base, err := url.Parse(c.TraceEndpoint)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return trace.Options{}, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be of the form http://host:4318")
	}
	return trace.Options{URL: base.JoinPath("v1/traces").String()}, nil
}
