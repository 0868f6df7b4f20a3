// Package tra talks to the vehicle calculator of the Tanzania Revenue
// Authority (UMVVS): a client with tolerant decoding and typed errors, a copy
// of its catalogue in Redis, and the gates, caches and status around it. The
// wire format is known from public clients of the same API and from one
// recorded answer; nothing here was checked against the live service.
package tra

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/vehicle"
)

// DefaultBaseURL is the authority's own address.
const DefaultBaseURL = "https://taxpayerportal.tra.go.tz/umvvs-api/ExternalCalculator"

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

// Make is a make as the authority names and numbers it. Its numbers change
// between revisions: the name is what lasts.
type Make struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// Vehicle is the exact tuple that the authority taxes, in its own words.
type Vehicle struct {
	MakeID         int    `json:"makeId"`
	ModelBody      string `json:"modelBody"` // byte for byte as listed
	YOM            int    `json:"yom"`       // year of manufacture
	Country        string `json:"country"`
	FuelType       string `json:"fuelType"`
	EngineCapacity string `json:"engineCapacity"` // a band: "1001 - 1500 CC"
}

// Options of a Client. The zero value is good for production in Tanzania.
type Options struct {
	BaseURL   string        // default DefaultBaseURL
	Timeout   time.Duration // of one call; default 60 s, as the authority can be slow
	UserAgent string        // default "ushuru"
	CAFile    string        // further certificate authorities, PEM; the system's always count
	MaxBody   int64         // of one answer, bytes after decompression; default 8 MiB
}

// Client makes the seven calls. It keeps no state and retries nothing.
type Client struct {
	base      string
	timeout   time.Duration
	userAgent string
	maxBody   int64
	http      *http.Client
}

// NewClient checks the options. The client verifies certificates always, uses
// no proxy from the environment and follows no redirect to another host.
func NewClient(o Options) (*Client, error) {
	base, err := url.Parse(orDefault(o.BaseURL, DefaultBaseURL))
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return nil, fmt.Errorf("tra: base URL %q is not an http(s) address", o.BaseURL)
	}
	if base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return nil, errors.New("tra: the base URL must hold no query, fragment or user")
	}
	roots, err := certificates(o.CAFile)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 30 * time.Second,
	}
	return &Client{
		base:      strings.TrimRight(base.String(), "/"),
		timeout:   orDefault(o.Timeout, 60*time.Second),
		userAgent: orDefault(o.UserAgent, "ushuru"),
		maxBody:   orDefault(o.MaxBody, 8<<20),
		http:      &http.Client{Transport: transport, CheckRedirect: sameHostOnly},
	}, nil
}

// Close closes the connections that stand idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Makes lists the makes. An empty list is an answer, here and below: it says
// that the authority lists nothing.
func (c *Client) Makes(ctx context.Context) ([]Make, error) {
	body, err := c.get(ctx, callMakes)
	if err != nil {
		return nil, err
	}
	makes, err := decodeMakes(body)
	return makes, c.undecodable(callMakes, body, err)
}

// ModelBodies lists the labels of a make, byte for byte.
func (c *Client) ModelBodies(ctx context.Context, makeID int) ([]string, error) {
	return c.texts(ctx, callModelBody, "modelBody", number("makeId", makeID))
}

// Years lists the years of manufacture of a label. They have gaps.
func (c *Client) Years(ctx context.Context, makeID int, modelBody string) ([]int, error) {
	body, err := c.get(ctx, callYears, number("makeId", makeID), param{"modelBody", modelBody})
	if err != nil {
		return nil, err
	}
	years, err := decodeYears(body)
	return years, c.undecodable(callYears, body, err)
}

// Countries lists the countries of origin of a label and year.
func (c *Client) Countries(ctx context.Context, makeID int, modelBody string, yom int) ([]string, error) {
	return c.texts(ctx, callCountries, "countryOfOrigin",
		number("makeId", makeID), param{"modelBody", modelBody}, number("yom", yom))
}

// Fuels lists the fuel types of a label, year and country.
func (c *Client) Fuels(ctx context.Context, makeID int, modelBody string, yom int, country string) ([]string, error) {
	return c.texts(ctx, callFuels, "fuelType",
		number("makeId", makeID), param{"modelBody", modelBody}, number("yom", yom), param{"countryOfOrigin", country})
}

// Capacities lists the engine capacity bands of a label, year, country and fuel.
func (c *Client) Capacities(ctx context.Context, makeID int, modelBody string, yom int, country, fuel string) ([]string, error) {
	return c.texts(ctx, callCapacities, "engineCapacity",
		number("makeId", makeID), param{"modelBody", modelBody}, number("yom", yom), param{"countryOfOrigin", country},
		param{"fuelType", fuel})
}

// Details returns the tax on one vehicle and doubts about the figures. An
// answer about another vehicle is an error of kind BadAnswer.
func (c *Client) Details(ctx context.Context, v Vehicle) (vehicle.Tax, []vehicle.Warning, error) {
	body, err := c.get(ctx, callDetails,
		number("makeId", v.MakeID), param{"modelBody", v.ModelBody}, number("yom", v.YOM),
		param{"cuntryOfOrigin", v.Country}, // the authority's spelling, in this call only
		param{"fuelType", v.FuelType}, param{"engineCapacity", v.EngineCapacity})
	if err != nil {
		return vehicle.Tax{}, nil, err
	}
	tax, warnings, err := decodeDetails(body, v)
	if err != nil {
		return vehicle.Tax{}, nil, c.undecodable(callDetails, body, err)
	}
	return tax, warnings, nil
}

func (c *Client) texts(ctx context.Context, call, field string, params ...param) ([]string, error) {
	body, err := c.get(ctx, call, params...)
	if err != nil {
		return nil, err
	}
	texts, err := decodeTexts(body, field)
	return texts, c.undecodable(call, body, err)
}

// param is one parameter of a query, whose order is kept.
type param struct{ name, value string }

func number(name string, value int) param { return param{name, strconv.Itoa(value)} }

// query encodes a space as %20, as the authority's own page does.
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

// get makes one call and returns the body of a good answer. When the caller's
// own context ends, that is the error: it is no fault of the authority's.
func (c *Client) get(ctx context.Context, call string, params ...param) ([]byte, error) {
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
	req.Header.Set("User-Agent", c.userAgent)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(ctx, call, 0, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	failure := &Error{Call: call, Status: res.StatusCode, excerpt: excerpt(body)}
	switch {
	case res.StatusCode != http.StatusOK:
		failure.Kind = statusKind(res.StatusCode)
		failure.RetryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
		return nil, failure
	case err != nil:
		return nil, c.lost(ctx, call, res.StatusCode, err)
	case int64(len(body)) > c.maxBody:
		failure.Kind, failure.cause = BadAnswer, fmt.Errorf("longer than %d bytes", c.maxBody)
		return nil, failure
	}
	return body, nil
}

// lost sorts the errors of a call that brought no whole answer.
func (c *Client) lost(ctx context.Context, call string, status int, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("tra: %s: %w", call, ctx.Err())
	}
	kind := Unavailable
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		kind = Certificate
	}
	return &Error{Kind: kind, Call: call, Status: status, cause: err}
}

// undecodable turns an error of decoding into one of the call.
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
	return &Error{Kind: kind, Call: call, Status: http.StatusOK, cause: err, excerpt: excerpt(body)}
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

// certificates are the system's, with those of a file added.
func certificates(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil // the system's
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("tra: system certificates: %w", err)
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("tra: CA file: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("tra: CA file %s holds no certificate", file)
	}
	return roots, nil
}

func excerpt(body []byte) string { return fmt.Sprintf("%.200q", body) }

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
