package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
)

// Terms are what the caller decides about a cost. The zero value decides nothing.
type Terms struct {
	Rate    *money.Number        `json:"rate,omitempty"` // shillings for a dollar, for costs other than tax
	Landing *vehicle.LandingDays `json:"landing,omitempty"`
	Costs   *vehicle.Costs       `json:"costs,omitempty"`  // that the caller knows
	Target  *vehicle.Target      `json:"target,omitempty"` // the answer has the highest price for it
}

// query returns the terms as the parameters of a query.
func (t Terms) query() (url.Values, error) {
	query := url.Values{}
	if t.Rate != nil {
		query.Set("rate", t.Rate.String())
	}
	if t.Landing != nil {
		query.Set("landing", t.Landing.From)
		if t.Landing.To != "" {
			query.Set("landing", t.Landing.From+".."+t.Landing.To)
		}
	}
	if t.Costs != nil {
		costs, err := json.Marshal(t.Costs)
		if err != nil {
			return nil, fmt.Errorf("client: costs: %w", err)
		}
		query.Set("costs", string(costs))
	}
	return query, nil
}

// allFields asks for all members of a result: those that the API leaves out would be read as zeros.
const allFields = "?fields=all"

// EstimateRequest asks for the estimate of a listing.
type EstimateRequest struct {
	Terms

	URL             string         `json:"url"`
	HTML            string         `json:"html,omitempty"`            // the page itself, for sites that block the API
	ModelBody       string         `json:"modelBody,omitempty"`       // TRA label, chosen by the caller
	Known           *vehicle.Known `json:"known,omitempty"`           // what the caller knows better than the page
	PriceCandidates bool           `json:"priceCandidates,omitempty"` // taxes of every candidate when there is no estimate
	Explain         bool           `json:"explain,omitempty"`         // the source of each value
}

// Estimate is the estimate of a listing.
type Estimate struct {
	vehicle.Estimate
	Raw
}

// Estimate estimates a listing, and waits for the estimate.
func (c *Client) Estimate(ctx context.Context, r EstimateRequest, progress ...func(*Job)) (*Estimate, error) {
	return awaitPosted[Estimate](ctx, c, "/v1/estimate", r, progress)
}

// QuoteRequest asks for the estimate of a car that the caller describes.
type QuoteRequest struct {
	vehicle.QuoteInput
	Terms

	FOBPriceJPY *money.Number `json:"fobPriceJPY,omitempty"` // in yen, with JPYPerUSD
	CFPriceJPY  *money.Number `json:"cfPriceJPY,omitempty"`
	JPYPerUSD   *money.Number `json:"jpyPerUSD,omitempty"`

	PriceCandidates bool `json:"priceCandidates,omitempty"`
}

// Quote is the estimate of a described car.
type Quote struct {
	vehicle.Quote
	Raw
}

// Quote estimates a car that the caller describes, and waits for the estimate.
func (c *Client) Quote(ctx context.Context, r QuoteRequest, progress ...func(*Job)) (*Quote, error) {
	return awaitPosted[Quote](ctx, c, "/v1/quote", r, progress)
}

// CompareRequest asks which of two listings is the better buy.
type CompareRequest struct {
	Terms

	URL1 string `json:"url1"`
	URL2 string `json:"url2"`
}

// Comparison compares two listings.
type Comparison struct {
	vehicle.Comparison
	Raw
}

// Compare compares two listings, and waits for the comparison.
func (c *Client) Compare(ctx context.Context, r CompareRequest, progress ...func(*Job)) (*Comparison, error) {
	return awaitPosted[Comparison](ctx, c, "/v1/compare", r, progress)
}

// ReportRequest asks for the report of an inspection sheet: a URL, or a file with its
// name.
type ReportRequest struct {
	URL  string // of a known auction site
	File []byte // JPEG, PNG, WebP, GIF or PDF
	Name string // of the file
}

// request returns the request with its file.
func (r ReportRequest) request() (Request, error) {
	if r.File == nil {
		return posted(reportPath+allFields, map[string]string{"url": r.URL})
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", r.Name)
	if err == nil {
		_, err = part.Write(r.File)
	}
	err = errors.Join(err, form.Close())
	header := http.Header{"Content-Type": {form.FormDataContentType()}}
	return Request{Path: reportPath + allFields, Body: body.Bytes(), Header: header}, err
}

// ConditionReport is what an inspection sheet says.
type ConditionReport struct {
	vehicle.ConditionReport
	Raw
}

// ConditionReport reads an inspection sheet, and waits for the report.
func (c *Client) ConditionReport(ctx context.Context, r ReportRequest, progress ...func(*Job)) (*ConditionReport, error) {
	request, err := r.request()
	if err != nil {
		return nil, err
	}
	return await[ConditionReport](ctx, c, request, progress)
}

const reportPath = "/v1/condition-report"

// DamageMap returns the drawing of a car's panels with the damage of a report, by its
// id, as SVG.
func (c *Client) DamageMap(ctx context.Context, id string) ([]byte, error) {
	response, err := c.Do(ctx, Request{Path: reportPath + "/" + url.PathEscape(id) + "/map.svg"})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// awaitPosted posts a body and waits for the result.
func awaitPosted[T any](ctx context.Context, c *Client, path string, body any, progress []func(*Job)) (*T, error) {
	r, err := posted(path+allFields, body)
	if err != nil {
		return nil, err
	}
	return await[T](ctx, c, r, progress)
}

// BillRequest asks what of a clearing agent's bill is owed for the car of a listing.
type BillRequest struct {
	Terms

	URL  string `json:"url,omitempty"` // without one only what needs no car is judged
	Text string `json:"text"`          // the bill as pasted
	Date string `json:"date,omitempty"`
	Lang string `json:"lang,omitempty"`
}

// Bill is what became of a bill.
type Bill struct {
	Raw

	Lines         []billLine       `json:"lines"`
	Missing       []billMissing    `json:"missing"` // what will still come
	SumDiffersTZS string           `json:"sumDiffersTZS"`
	Verdict       string           `json:"verdict"`
	Text          vehicle.Sentence `json:"text"` // the one thing to do
	Note          vehicle.Text     `json:"note"`
}

// billLine is a line of a bill with its verdict.
type billLine struct {
	Name      string           `json:"name"`
	AmountTZS string           `json:"amountTZS"`
	Verdict   string           `json:"verdict"`
	Also      []string         `json:"also"`
	LowTZS    string           `json:"lowTZS"`
	HighTZS   string           `json:"highTZS"`
	Text      vehicle.Sentence `json:"text"`
}

// billMissing is a charge that the bill does not have.
type billMissing struct {
	Name vehicle.Text `json:"name"`
	Text vehicle.Text `json:"text"`
}

// CheckBill checks a bill. The API stores none, so a request that takes longer than one
// answer is sent again, which finds the estimate of the car further on.
func (c *Client) CheckBill(ctx context.Context, r BillRequest) (*Bill, error) {
	request, err := posted("/v1/bill-check", r)
	if err != nil {
		return nil, err
	}
	return call[Bill](ctx, c, request)
}

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
