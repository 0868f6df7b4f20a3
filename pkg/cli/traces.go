package cli

import (
	"errors"
	"net/url"
	"strings"

	"ushuru/pkg/trace"
)

// traceConfig is about traces, in the variables of OpenTelemetry. Its SDK reads more of them
// from the environment.
type traceConfig struct {
	TraceEndpoint string `name:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" help:"Base URL of an OpenTelemetry collector (OTLP over HTTP), such as http://localhost:4318, that gets a trace of every request; empty records none."`
	TraceURL      string `name:"otlp-traces-endpoint" env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" placeholder:"URL" help:"Whole URL for traces, instead of the base URL."`
	TraceHeaders  Secret `name:"otlp-headers" env:"OTEL_EXPORTER_OTLP_HEADERS" placeholder:"NAME=VALUE,..." help:"Headers of the requests to the collector; values are percent-encoded."`
	TraceProtocol string `name:"otlp-protocol" env:"OTEL_EXPORTER_OTLP_PROTOCOL" enum:"http/protobuf" default:"http/protobuf" help:"Form of what the collector gets; there is only this one."`
	TraceOff      bool   `name:"otel-off" env:"OTEL_SDK_DISABLED" help:"Record no traces, whatever the other variables of OpenTelemetry say."`
}

// options returns the collector.
func (c traceConfig) options() (trace.Options, error) {
	name, address := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.TraceURL
	if address == "" && c.TraceEndpoint != "" {
		name, address = "OTEL_EXPORTER_OTLP_ENDPOINT", strings.TrimRight(c.TraceEndpoint, "/")+"/v1/traces"
	}
	if c.TraceOff || address == "" {
		return trace.Options{}, nil
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return trace.Options{}, errors.New(name + " must be of the form http://host:4318")
	}
	headers := map[string]string{}
	for pair := range strings.SplitSeq(string(c.TraceHeaders), ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		value, err := url.PathUnescape(value)
		if ok && name != "" && err == nil {
			headers[name] = value
		} else if pair != "" {
			return trace.Options{}, errors.New("OTEL_EXPORTER_OTLP_HEADERS must be of the form name=value,name=value")
		}
	}
	return trace.Options{URL: address, Headers: headers}, nil
}
