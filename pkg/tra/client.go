// Package tra is a client of the vehicle calculator of the Tanzania Revenue
// Authority (UMVVS): calls with tolerant decoding and typed errors, a copy of
// its catalogue in Redis, a throttle, a cache and a status. The wire format is
// known from public clients of the same API and from one recorded answer; the
// program was never tested against the live service (docs/sources.md).
package tra

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/logs"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/trace"
	"ushuru/pkg/vehicle"
)

// Options of a Client. The zero value is good for production in Tanzania.
type Options struct {
	BaseURL string        // default DefaultBaseURL
	Timeout time.Duration // of one call; default 60 s, as the authority can be slow
	CAFile  string        // further certificate authorities, PEM; the system's always count
	Proxy   string        // of all calls, as ParseProxy takes it; "" calls directly
	MaxBody int64         // of one answer, bytes after decompression; default 8 MiB
}

// Client makes the seven calls. It has no state and does not retry.
type Client struct {
	base    string
	timeout time.Duration
	maxBody int64
	http    *http.Client
	proxy   *url.URL // nil without a proxy
}

// NewClient checks the options. The client verifies certificates always, uses
// no proxy from the environment and follows no redirect to another host.
func NewClient(o Options) (*Client, error) {
	base := cmp.Or(o.BaseURL, defaultBaseURL)
	if err := CheckBaseURL(base); err != nil {
		return nil, err
	}
	roots, err := certificates(o.CAFile)
	if err != nil {
		return nil, err
	}
	proxy, err := ParseProxy(o.Proxy)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:               http.ProxyURL(proxy), // nil calls directly
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 30 * time.Second,
	}
	return &Client{
		base:    strings.TrimRight(base, "/"),
		timeout: cmp.Or(o.Timeout, 60*time.Second),
		maxBody: cmp.Or(o.MaxBody, 8<<20),
		http:    &http.Client{Transport: transport, CheckRedirect: sameHostOnly},
		proxy:   proxy,
	}, nil
}

// defaultBaseURL is the public URL of the authority's calculator.
const defaultBaseURL = "https://taxpayerportal.tra.go.tz/umvvs-api/ExternalCalculator"

// CheckBaseURL returns what is wrong with a base URL.
func CheckBaseURL(address string) error {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return fmt.Errorf("tra: base URL %q is not an http(s) address", address)
	}
	if base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return errors.New("tra: the base URL must hold no query, fragment or user")
	}
	return nil
}

// certificates returns the system's certificates and those of a file.
func certificates(file string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("tra: system certificates: %w", err)
	}
	if file == "" {
		return roots, nil
	}
	pem, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("tra: CA file: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("tra: CA file %s holds no certificate", file)
	}
	return roots, nil
}

// ParseProxy parses the address of a proxy: https:// or http:// (CONNECT), or
// socks5://, each optionally with user and password. "" is no proxy. No error
// contains the address, which may hold a password.
func ParseProxy(address string) (*url.URL, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // nil is no proxy
	}
	proxy, err := url.Parse(address)
	if err != nil || !slices.Contains([]string{"https", "http", "socks5", "socks5h"}, proxy.Scheme) || proxy.Hostname() == "" ||
		(proxy.Path != "" && proxy.Path != "/") || proxy.RawQuery != "" || proxy.Fragment != "" {
		return nil, errors.New("tra: the proxy must be https://, http:// or socks5:// with [user:password@]host:port")
	}
	if proxy.Port() == "" {
		port, known := map[string]string{"https": "443", "http": "80"}[proxy.Scheme]
		if !known {
			port = "1080"
		}
		proxy.Host = net.JoinHostPort(proxy.Hostname(), port)
	}
	return proxy, nil
}

// DialProxy connects to the proxy of the client and closes the connection, to
// see whether it can be reached. It returns the proxy's host, without a password;
// "" when there is no proxy.
func (c *Client) DialProxy(ctx context.Context) (host string, err error) {
	if c.proxy == nil {
		return "", nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.proxy.Host)
	if err != nil {
		return c.proxy.Host, fmt.Errorf("tra: proxy: %w", err)
	}
	return c.proxy.Host, conn.Close()
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// The names of the seven calls, which are also their paths.
const (
	callMakes      = "getMakes"
	callModelBody  = "getModelBody"
	callYears      = "getYom"
	callCountries  = "getCountryOfOrigin"
	callFuels      = "getFuelType"
	callCapacities = "getEngineCapacity"
	callDetails    = "getVehicleDetails"
)

// Calls are the names of all calls.
var Calls = []string{callMakes, callModelBody, callYears, callCountries, callFuels, callCapacities, callDetails}

// listCalls are the calls that list the values of a field of a vehicle, by the name of the field;
// that of "" is the calculation of a vehicle that has all.
var listCalls = map[string]string{
	catalogue.FieldModelBody: callModelBody, catalogue.FieldYear: callYears, catalogue.FieldCountry: callCountries,
	catalogue.FieldFuel: callFuels, catalogue.FieldCapacity: callCapacities, "": callDetails,
}

// Makes lists the makes. An empty list without an error means, here and below,
// that the authority lists nothing.
func (c *Client) Makes(ctx context.Context) ([]catalogue.Make, error) {
	body, err := c.get(ctx, callMakes)
	if err != nil {
		return nil, err
	}
	makes, err := decodeMakes(body)
	return makes, c.undecodable(callMakes, body, err)
}

// ModelBodies lists the labels of a make, byte for byte.
func (c *Client) ModelBodies(ctx context.Context, makeID int) ([]string, error) {
	return c.List(ctx, catalogue.Vehicle{MakeID: makeID})
}

// List lists the values of the first field of a vehicle that is empty: the labels of its make,
// their years of manufacture, which have gaps, the countries of origin, the fuel types or the
// engine capacity bands.
func (c *Client) List(ctx context.Context, v catalogue.Vehicle) ([]string, error) {
	field := v.Next()
	call := listCalls[field]
	body, err := c.get(ctx, call, paramsOf(v, "countryOfOrigin")...)
	if err != nil {
		return nil, err
	}
	list, err := decodeTexts(body, field)
	return list, c.undecodable(call, body, err)
}

// Details returns the tax on one vehicle and warnings about the figures. An
// answer about another vehicle is an error of the kind BadAnswer.
func (c *Client) Details(ctx context.Context, v catalogue.Vehicle) (vehicle.Tax, []vehicle.Warning, error) {
	body, err := c.get(ctx, callDetails, paramsOf(v, "cuntryOfOrigin")...) // the authority's spelling, in this call only
	if err != nil {
		return vehicle.Tax{}, nil, err
	}
	tax, warnings, err := decodeDetails(body, v)
	if err != nil {
		return vehicle.Tax{}, nil, c.undecodable(callDetails, body, err)
	}
	return tax, warnings, nil
}

// paramsOf returns the fields of a vehicle that are not empty as the parameters of a call, in the order of the
// lists.
func paramsOf(v catalogue.Vehicle, country string) []param {
	year := ""
	if v.YOM != 0 {
		year = strconv.Itoa(v.YOM)
	}
	return slices.DeleteFunc([]param{
		{"makeId", strconv.Itoa(v.MakeID)},
		{catalogue.FieldModelBody, v.ModelBody},
		{catalogue.FieldYear, year},
		{country, v.Country},
		{catalogue.FieldFuel, v.FuelType},
		{catalogue.FieldCapacity, v.EngineCapacity},
	}, func(p param) bool { return p.value == "" })
}

// param is one parameter of a query, whose order is kept.
type param struct{ name, value string }

// query encodes a space as %20, as TRA's own web page does.
func query(params []param) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(p.name + "=" + strings.ReplaceAll(url.QueryEscape(p.value), "+", "%20"))
	}
	return b.String()
}

// get makes one call and returns the body of a 200 response. When the caller's
// context ends, the error is that of the context.
func (c *Client) get(ctx context.Context, call string, params ...param) (_ []byte, err error) {
	ctx, span := trace.Start(ctx, trace.Client, "TRA "+call)
	defer func() { span.End(err) }()
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	address := c.base + "/" + call
	if len(params) > 0 {
		address += "?" + query(params)
	}
	req, err := http.NewRequestWithContext(limited, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("tra: %s: %w", call, err)
	}
	req.Header.Set("Accept", "application/json, text/plain, */*")
	req.Header.Set("User-Agent", "ushuru")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.transportError(ctx, call, 0, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	failure := &Error{Call: call, Status: res.StatusCode, excerpt: logs.Excerpt(body)}
	switch {
	case res.StatusCode != http.StatusOK:
		failure.Kind = statusKind(res.StatusCode)
		failure.RetryAfter = pace.RetryAfter(res.Header, time.Now(), maxRetryAfter)
		return nil, failure
	case err != nil:
		return nil, c.transportError(ctx, call, res.StatusCode, err)
	case int64(len(body)) > c.maxBody:
		failure.Kind, failure.cause = BadAnswer, fmt.Errorf("longer than %d bytes", c.maxBody)
		return nil, failure
	}
	return body, nil
}

// transportError classifies the error of a call without a complete response.
func (c *Client) transportError(ctx context.Context, call string, status int, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("tra: %s: %w", call, ctx.Err())
	}
	kind := Unavailable
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		kind = Certificate
	}
	return &Error{Kind: kind, Call: call, Status: status, cause: err}
}

// undecodable wraps a decoding error into an *Error of the call.
func (c *Client) undecodable(call string, body []byte, err error) error {
	if err == nil {
		return nil
	}
	kind := BadAnswer
	switch {
	case errors.Is(err, errNotJSON):
		kind = Unavailable // a maintenance page, or a log-in page
	case errors.Is(err, errNoVehicle):
		kind = NoSuchVehicle
	}
	return &Error{Kind: kind, Call: call, Status: http.StatusOK, cause: err, excerpt: logs.Excerpt(body)}
}

func sameHostOnly(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return fmt.Errorf("redirect to another place: %.100s", req.URL.Host)
	}
	if len(via) > 3 {
		return errors.New("more than three redirects")
	}
	return nil
}

// Kind classifies the errors of calls to the authority. The words are stable:
// logs, metrics and the status endpoint use them.
type Kind string

// The kinds of error.
const (
	Unavailable   Kind = "unavailable"     // no answer, a time-out, HTTP 408, 429 or 5xx, or a page instead of data
	Refused       Kind = "refused"         // HTTP 401, 403 or 451: the authority answers addresses in Tanzania only
	NoSuchVehicle Kind = "no_such_vehicle" // the authority knows no tax for this vehicle
	Certificate   Kind = "certificate"     // its TLS certificate cannot be verified
	BadAnswer     Kind = "bad_answer"      // an answer that cannot be understood, or one for another vehicle
)

// Kinds are all the kinds of error.
var Kinds = []Kind{Unavailable, Refused, NoSuchVehicle, Certificate, BadAnswer}

var sentences = map[Kind]string{
	Unavailable:   "TRA's calculator is not available",
	Refused:       "TRA's calculator refuses requests from this server",
	NoSuchVehicle: "TRA's calculator has no tax for this vehicle",
	Certificate:   "the certificate of TRA's calculator cannot be verified",
	BadAnswer:     "TRA's calculator gave an unusable answer",
}

// Error is the failure of one call to the authority. Its text can be shown to
// users. The response and the cause are for logs only: LogValue and Unwrap
// return them.
type Error struct {
	Kind       Kind
	Call       string        // the authority's name of the call: getMakes, getYom …
	Status     int           // of the HTTP answer; 0 when there was none
	RetryAfter time.Duration // as the authority asks, at most a day; 0 when it does not

	cause   error
	excerpt string // the first bytes of the answer
}

// Error returns the sentence of the kind, with the call and the HTTP status.
func (e *Error) Error() string {
	if e.Status == 0 || e.Status == http.StatusOK {
		return fmt.Sprintf("%s (%s)", sentences[e.Kind], e.Call)
	}
	return fmt.Sprintf("%s (%s, HTTP %d)", sentences[e.Kind], e.Call, e.Status)
}

// Unwrap returns the cause, which must not be shown to users.
func (e *Error) Unwrap() error { return e.cause }

// Temporary reports whether the same call may succeed later.
func (e *Error) Temporary() bool { return e.Kind == Unavailable }

// LogValue returns all details, with the first bytes of the response.
func (e *Error) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("kind", string(e.Kind)), slog.String("call", e.Call), slog.Int("status", e.Status),
		slog.Duration("retry_after", e.RetryAfter), slog.String("answer", e.excerpt),
	}
	if e.cause != nil {
		attrs = append(attrs, slog.String("cause", e.cause.Error()))
	}
	return slog.GroupValue(attrs...)
}

// KindOf returns the kind of a failed call, or "" for other errors.
func KindOf(err error) Kind {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Kind
	}
	return ""
}

// statusKind classifies the HTTP statuses other than 200.
func statusKind(status int) Kind {
	switch {
	case status == http.StatusForbidden, status == http.StatusUnauthorized, status == http.StatusUnavailableForLegalReasons:
		return Refused
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return Unavailable
	default:
		return BadAnswer
	}
}

const maxRetryAfter = 24 * time.Hour
