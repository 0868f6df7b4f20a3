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
	"net/http"
	"net/url"
	"strings"
	"time"

	"ushuru/pkg/vehicle"
)

// DefaultBaseURL is the public URL of the authority's calculator.
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

// Calls are the names of all calls.
var Calls = []string{callMakes, callModelBody, callYears, callCountries, callFuels, callCapacities, callDetails}

// Make is a make with the authority's name and id. Ids change between revisions
// of the database; names do not.
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
	Proxy     string        // of all calls, as ParseProxy takes it; "" calls directly
	MaxBody   int64         // of one answer, bytes after decompression; default 8 MiB
}

// Client makes the seven calls. It has no state and does not retry.
type Client struct {
	base      string
	timeout   time.Duration
	userAgent string
	maxBody   int64
	http      *http.Client
	proxy     *url.URL // nil without a proxy
}

// NewClient checks the options. The client verifies certificates always, uses
// no proxy from the environment and follows no redirect to another host.
func NewClient(o Options) (*Client, error) {
	base := cmp.Or(o.BaseURL, DefaultBaseURL)
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
		base:      strings.TrimRight(base, "/"),
		timeout:   cmp.Or(o.Timeout, 60*time.Second),
		userAgent: cmp.Or(o.UserAgent, "ushuru"),
		maxBody:   cmp.Or(o.MaxBody, 8<<20),
		http:      &http.Client{Transport: transport, CheckRedirect: sameHostOnly},
		proxy:     proxy,
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

// Details returns the tax on one vehicle and warnings about the figures. An
// answer about another vehicle is an error of the kind BadAnswer.
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
