package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
)

// Site is a site whose listings the API reads.
type Site struct {
	Name     string        `json:"name"`
	Hosts    []string      `json:"hosts"` // without www. and other subdomains, which belong to the site too
	Gives    []string      `json:"gives"` // fields of a car that its pages provide
	Verified string        `json:"verified"`
	Note     string        `json:"note,omitzero"`
	Text     *message.Text `json:"text,omitzero"` // Note in both languages
}

// Sites returns the sites that the API reads best.
func (c *Client) Sites(ctx context.Context) ([]Site, error) {
	found, err := get[struct {
		Sites []Site `json:"sites"`
	}](ctx, c, "/v1/sites", nil)
	if err != nil {
		return nil, err
	}
	return found.Sites, nil
}

// VehicleQuery asks for TRA's makes, or for the labels of one make.
type VehicleQuery struct {
	Make   string // "" asks for the makes
	Search string // words that must all be there
	Limit  int    // 0 is 50, the maximum 200
	Offset int
}

// Vehicles are TRA's makes, or the labels of one make.
type Vehicles struct {
	Make     string         `json:"make"`
	Total    int            `json:"total"` // of all pages
	Offset   int            `json:"offset"`
	Makes    []string       `json:"makes"`
	Vehicles []VehicleLabel `json:"vehicles"`
	AsOf     *time.Time     `json:"asOf"` // nil while parts are missing
}

// VehicleLabel is TRA's label of a car, with its parts.
type VehicleLabel struct {
	ModelBody string   `json:"modelBody"`
	Model     string   `json:"model"`
	Codes     []string `json:"codes"`
	Body      string   `json:"body"`
}

// Vehicles searches TRA's makes and labels.
func (c *Client) Vehicles(ctx context.Context, q VehicleQuery) (*Vehicles, error) {
	query := url.Values{}
	setText(query, "make", q.Make)
	setText(query, "q", q.Search)
	for name, n := range map[string]int{"limit": q.Limit, "offset": q.Offset} {
		if n != 0 {
			query.Set(name, strconv.Itoa(n))
		}
	}
	return get[Vehicles](ctx, c, "/v1/vehicles", query)
}

// TRAStatus is whether TRA's calculator can be asked, and whether its answers follow
// the rules that Ushuru knows.
type TRAStatus struct {
	Raw

	Status        string        `json:"status"` // up, degraded, down or unknown
	CheckedAt     *time.Time    `json:"checkedAt"`
	LatencyMs     int64         `json:"latencyMs"` // of the last call
	LastSuccessAt *time.Time    `json:"lastSuccessAt"`
	LastFailureAt *time.Time    `json:"lastFailureAt"`
	Breaker       string        `json:"breaker"`
	ErrorKind     string        `json:"errorKind"` // of the last failure
	Reason        string        `json:"reason"`    // only while TRA cannot be asked
	Message       string        `json:"message"`   // the reason as a sentence
	Text          *message.Text `json:"text"`      // Message in both languages
	Details       TRARules      `json:"details"`
}

// TRARules is whether TRA's answers follow the rules that Ushuru knows.
type TRARules struct {
	RulesAgree     *bool          `json:"rulesAgree"` // nil before an answer was checked
	Since          *time.Time     `json:"since"`
	Rules          string         `json:"rules"`
	AgreesWith     []string       `json:"agreesWith"`
	Checked        int64          `json:"checked"`  // answers
	Differed       int64          `json:"differed"` // of them
	CheckedAt      *time.Time     `json:"checkedAt"`
	LastDifference *TRADifference `json:"lastDifference"`
}

// TRADifference is an answer of TRA that differs from the rules.
type TRADifference struct {
	At              time.Time `json:"at"`
	ReferenceNumber string    `json:"referenceNumber"`
	Lines           []struct {
		Line      string       `json:"line"`
		Authority money.Amount `json:"authority"`
		Computed  money.Amount `json:"computed"`
	} `json:"lines"`
}

// TRAStatus returns the status of TRA's calculator.
func (c *Client) TRAStatus(ctx context.Context) (*TRAStatus, error) {
	return get[TRAStatus](ctx, c, "/v1/tra-status", nil)
}

// Health returns nil when the process of the API runs.
func (c *Client) Health(ctx context.Context) error {
	_, err := c.Do(ctx, Request{Path: "/healthz"})
	return err
}

// Ready returns nil when the API serves requests.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.Do(ctx, Request{Path: "/readyz"})
	return err
}

// OpenAPI returns the description of the API, as YAML.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/openapi.yaml")
}

// OpenAPIJSON returns the description of the API, as JSON.
func (c *Client) OpenAPIJSON(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/openapi.json")
}

// document returns a response as it is.
func (c *Client) document(ctx context.Context, path string) ([]byte, error) {
	response, err := c.Do(ctx, Request{Path: path})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}
