package batchrequest

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"time"

	"ushuru/api/described"
	"ushuru/api/terms"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

const (
	// maxBody allows for batch.MaxRows URLs of 800 bytes.
	maxBody = 8 << 20
	// maxOptions is the maximum size of the options in a form in bytes.
	maxOptions = 64 << 10
	// maxIgnored is how many names of fields that do not exist are remembered.
	maxIgnored = jsonobject.MaxNames
)

// Options are the options of all rows of a batch.
type Options struct {
	OnInvalid string `json:"onInvalid,omitempty"` // reject or skip

	// JPYPerUSD is how many yen a dollar is, in prices of described cars.
	JPYPerUSD *money.Number `json:"jpyPerUSD,omitempty"`

	Rate    *money.Number        `json:"rate,omitempty"` // shillings for a dollar
	Landing *vehicle.LandingDays `json:"landing,omitempty"`
	Costs   *vehicle.Costs       `json:"costs,omitempty"`
	Target  *vehicle.Target      `json:"target,omitempty"`

	// Webhook is the URL that is notified when the batch ends. In the body it is
	// beside the options.
	Webhook string `json:"-"`

	// Ignored are fields that do not exist.
	Ignored []string `json:"-"`
}

// optionsRequest is the field "options".
type optionsRequest struct {
	terms.Request

	OnInvalid string          `json:"onInvalid"`
	JPYPerUSD json.RawMessage `json:"jpyPerUSD"`
}

// skipsInvalid reports whether the valid rows are processed when others are
// invalid.
func (o *Options) skipsInvalid() bool { return o.OnInvalid == "skip" }

func (o *Options) check() error {
	if !slices.Contains([]string{"", "reject", "skip"}, o.OnInvalid) {
		return errOptionInvalid
	}
	return nil
}

// setTerms takes over the terms of a request that are given.
func (o *Options) setTerms(terms vehicle.Terms, ignored []string) {
	o.ignore(ignored)
	if terms.ByMonth {
		o.ignore([]string{"options.byMonth"}) // a row has one landing
	}
	if terms.Landing != nil {
		o.Landing = terms.Landing
	}
	if terms.Costs != nil {
		o.Costs = terms.Costs
	}
	if terms.Target != nil {
		o.Target = terms.Target
	}
	if !terms.Rate.IsZero() {
		rate := money.NewNumber(terms.Rate)
		o.Rate = &rate
	}
}

// parse parses the field "options" of a JSON body.
func (o *Options) parse(data json.RawMessage) error {
	var req optionsRequest
	if err := json.Unmarshal(data, &req); err != nil {
		return errOptionInvalid.WithCause(err)
	}
	parsed, ignored, err := req.Parse(time.Now())
	if errors.Is(err, terms.ErrRateInvalid) {
		return errOptionInvalid.WithCause(err)
	}
	if req.OnInvalid != "" {
		o.OnInvalid = req.OnInvalid
	}
	if err := o.parseJPY(req.JPYPerUSD); err != nil {
		return err
	}
	o.ignore(jsonobject.Unknown("options.", data, req))
	o.setTerms(parsed, ignored)
	return err
}

// ignore remembers the names of some fields that do not exist, each once.
func (o *Options) ignore(names []string) {
	for _, name := range names {
		if len(o.Ignored) < maxIgnored && !slices.Contains(o.Ignored, name) {
			o.Ignored = append(o.Ignored, name)
		}
	}
}

// parseJPY parses the rate of yen, if it is given.
func (o *Options) parseJPY(value json.RawMessage) error {
	rate, err := described.ParseYenRate(value)
	if rate != nil {
		o.JPYPerUSD = rate
	}
	return err
}

// queryOptions parses the options in the query, where those of a table are.
func queryOptions(query url.Values) (o Options, err error) {
	o.OnInvalid, o.Webhook = query.Get("onInvalid"), query.Get("webhook")
	parsed, ignored, err := terms.ParseQuery(query, time.Now())
	if errors.Is(err, terms.ErrRateInvalid) {
		return o, errOptionInvalid.WithCause(err)
	}
	if err != nil {
		return o, err
	}
	o.setTerms(parsed, ignored)
	if err := o.parseJPY(json.RawMessage(query.Get("jpyPerUSD"))); err != nil {
		return o, err
	}
	return o, o.check()
}
