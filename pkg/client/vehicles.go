package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
)

// yearsRounds is how often AwaitModelYears requests what is not known: the list of the
// years, and the years in two parts.
const yearsRounds = 3

// YearsQuery names a model whose taxes are compared by year of manufacture.
type YearsQuery struct {
	ModelBody     string // TRA's label
	Make          string // required when several makes have the label
	Fuel          string
	EngineCC      int
	Landing       string // a day or DAY..DAY; "" means the usual ones
	CheapestFirst bool
}

// path returns the path of the request with its query.
func (q YearsQuery) path() string {
	query := url.Values{}
	for name, value := range map[string]string{"make": q.Make, "fuel": q.Fuel, "landing": q.Landing} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if q.EngineCC != 0 {
		query.Set("engine_cc", strconv.Itoa(q.EngineCC))
	}
	if q.CheapestFirst {
		query.Set("cheapestFirst", "true")
	}
	return withQuery("/v1/vehicles/"+url.PathEscape(q.ModelBody)+"/years", query)
}

// ModelYears returns the known taxes of a model by year of manufacture. An error of the API
// is an *Error.
func (c *Client) ModelYears(ctx context.Context, q YearsQuery) (*vehicle.ModelYears, error) {
	return call[vehicle.ModelYears](ctx, c, Request{Path: q.path()})
}

// AwaitModelYears requests the taxes that are not known and waits for them until ctx
// ends. Years whose answer cannot be had stay unknown.
func (c *Client) AwaitModelYears(ctx context.Context, q YearsQuery) (found *vehicle.ModelYears, err error) {
	for range yearsRounds {
		found, err = call[vehicle.ModelYears](ctx, c, Request{Method: http.MethodPost, Path: q.path()})
		if err != nil {
			return found, err
		}
		for found.Pending > 0 {
			if err := pace.Sleep(ctx, 2*time.Second); err != nil {
				return found, err
			}
			if found, err = c.ModelYears(ctx, q); err != nil {
				return found, err
			}
		}
		if found.Listed && found.Unknown == 0 {
			break
		}
	}
	return found, nil
}

// TRAStatus is whether TRA's calculator can be asked, and whether its answers follow
// the rules that Ushuru knows.
type TRAStatus struct {
	Raw

	Status        string     `json:"status"`    // up, degraded, down or unknown
	LatencyMs     int64      `json:"latencyMs"` // of the last call
	LastSuccessAt *time.Time `json:"lastSuccessAt"`
	LastFailureAt *time.Time `json:"lastFailureAt"`
	ErrorKind     string     `json:"errorKind"` // of the last failure
	Reason        string     `json:"reason"`    // only while TRA cannot be asked
	Message       string     `json:"message"`   // the reason as a sentence
	Details       struct {
		RulesAgree *bool `json:"rulesAgree"` // nil before an answer was checked
		Checked    int64 `json:"checked"`    // answers
		Differed   int64 `json:"differed"`   // of them
	} `json:"details"`
}

// TRAStatus returns the status of TRA's calculator.
func (c *Client) TRAStatus(ctx context.Context) (*TRAStatus, error) {
	return Send[TRAStatus](ctx, c, "GET /v1/tra-status", nil)
}

// Ready returns nil when the API serves requests.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.Do(ctx, Request{Path: "/readyz"})
	return err
}
