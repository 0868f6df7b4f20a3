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
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// defaultBaseURL is the public URL of the authority's calculator.
const defaultBaseURL = "https://taxpayerportal.tra.go.tz/umvvs-api/ExternalCalculator"

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

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

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
