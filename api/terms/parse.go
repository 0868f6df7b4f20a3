package terms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/shopspring/decimal"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// Request are the fields of a request with which a caller decides about the
// cost. They do not change which work is done, only what is made of its result.
type Request struct {
	Rate        json.RawMessage `json:"rate"`        // shillings for a dollar
	Landing     json.RawMessage `json:"landing"`     // a day, or {"from", "to"}
	Costs       json.RawMessage `json:"costs"`       // what the caller knows
	Destination json.RawMessage `json:"destination"` // only Dar es Salaam
	Target      json.RawMessage `json:"target"`      // the cost for which the highest price is searched
	ByMonth     json.RawMessage `json:"byMonth"`     // add the cost by the month of landing
}

// targetRequest is the field "target".
type targetRequest struct {
	OnTheRoadTZS json.RawMessage `json:"onTheRoadTZS"`
}

// costsRequest is the field "costs".
type costsRequest struct {
	FreightUSD    json.RawMessage `json:"freightUSD"`
	InsuranceUSD  json.RawMessage `json:"insuranceUSD"`
	InspectionUSD json.RawMessage `json:"inspectionUSD"`
	BankUSD       json.RawMessage `json:"bankUSD"`
	AgentTZS      json.RawMessage `json:"agentTZS"`
	PortTZS       json.RawMessage `json:"portTZS"`
	InlandTZS     json.RawMessage `json:"inlandTZS"`
	OtherTZS      json.RawMessage `json:"otherTZS"`
	ExchangeRate  json.RawMessage `json:"exchangeRate"`
	ShippingM3    json.RawMessage `json:"shippingM3"`
	DaysInPort    json.RawMessage `json:"daysInPort"`
	Inspection    json.RawMessage `json:"inspection"`
	Insurance     json.RawMessage `json:"insurance"`
	Clearing      json.RawMessage `json:"clearing"`
	Plates        json.RawMessage `json:"plates"`
	Comprehensive json.RawMessage `json:"comprehensive"`
	Destination   json.RawMessage `json:"destination"`
}

// Bounds of the figures of a caller.
const (
	maxPriceUSD    = 3_000_000
	maxM3          = 300
	maxCostTZS     = 10_000_000_000
	maxDaysInPort  = 365
	maxLandingDays = 550 // from today
)

// Parse checks the terms of a request. Ignored are the fields that do not exist, by
// their names.
func (req *Request) Parse(now time.Time) (terms vehicle.Terms, ignored []string, err error) {
	if err := parseDestination("destination", req.Destination); err != nil {
		return terms, nil, err
	}
	if terms.Rate, err = parseRate(req.Rate); err != nil {
		return terms, nil, err
	}
	if terms.Landing, ignored, err = parseLanding(req.Landing, now); err != nil {
		return terms, nil, err
	}
	costs, rate, more, err := parseCosts(req.Costs)
	if err != nil {
		return terms, nil, err
	}
	if !rate.IsZero() && !terms.Rate.IsZero() && !rate.Equal(terms.Rate) {
		return terms, nil, problem.Field("costs.exchangeRate", "two_rates")
	}
	if !rate.IsZero() {
		terms.Rate = rate
	}
	terms.Costs = costs
	target, unknown, err := parseTarget(req.Target)
	if err != nil {
		return terms, nil, err
	}
	terms.Target = target
	if !jsonobject.IsAbsent(req.ByMonth) {
		if err := json.Unmarshal(req.ByMonth, &terms.ByMonth); err != nil {
			return terms, nil, problem.Field("byMonth", "switch")
		}
	}
	return terms, slices.Concat(ignored, more, unknown), nil
}

// Bounds of a target in shillings.
const (
	minTargetTZS = 1_000_000
	maxTargetTZS = 10_000_000_000
)

// parseTarget parses the cost on the road that the caller can pay; nil when there is
// none.
func parseTarget(value json.RawMessage) (target *vehicle.Target, ignored []string, err error) {
	if jsonobject.IsAbsent(value) {
		return nil, nil, nil
	}
	var req targetRequest
	if err := json.Unmarshal(value, &req); err != nil || value[0] != '{' || jsonobject.IsAbsent(req.OnTheRoadTZS) {
		return nil, nil, problem.Field("target", "target").WithCause(err)
	}
	n, err := parseNumber(req.OnTheRoadTZS, minTargetTZS, maxTargetTZS)
	if err != nil {
		return nil, nil, problem.Field("target.onTheRoadTZS", "amount", minTargetTZS, maxTargetTZS).WithCause(err)
	}
	return &vehicle.Target{OnTheRoadTZS: *n}, jsonobject.Unknown("target.", value, req), nil
}

// errDestination rejects every destination but Dar es Salaam.
var errDestination = problem.BadRequest("destination_unsupported").Of("destination")

// destinations are the accepted names of the only supported destination: their
// letters.
var destinations = []string{
	"dar", "daressalaam", "portofdaressalaam", "daressalaamtanzania",
	"tanzania", "tanzaniamainland", "mainlandtanzania", "mainland", "tz",
}

// parseDestination refuses every destination but Dar es Salaam: taxes and charges
// are others elsewhere.
func parseDestination(name string, value json.RawMessage) error {
	if jsonobject.IsAbsent(value) {
		return nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return problem.Field(name, "text").WithCause(err)
	}
	letters := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	if !slices.Contains(destinations, letters) {
		return errDestination
	}
	return nil
}

// parseLanding parses the days on which the car lands; nil when the caller names
// none.
func parseLanding(value json.RawMessage, now time.Time) (days *vehicle.LandingDays, ignored []string, err error) {
	if jsonobject.IsAbsent(value) {
		return nil, nil, nil
	}
	days = &vehicle.LandingDays{}
	var day string
	switch {
	case json.Unmarshal(value, &day) == nil:
		days.From = day
	case json.Unmarshal(value, days) != nil:
		return nil, nil, problem.Field("landing", "landing")
	default:
		ignored = jsonobject.Unknown("landing.", value, days)
	}
	if days.To == "" {
		days.To = days.From
	}
	from, errFrom := time.ParseInLocation(time.DateOnly, days.From, localtime.Zone)
	to, errTo := time.ParseInLocation(time.DateOnly, days.To, localtime.Zone)
	if errFrom != nil || errTo != nil || to.Before(from) {
		return nil, nil, problem.Field("landing", "landing")
	}
	// A day more, for callers and for jobs for which it is still yesterday.
	today := now.In(localtime.Zone)
	first, last := today.AddDate(0, 0, -1).Format(time.DateOnly), today.AddDate(0, 0, maxLandingDays).Format(time.DateOnly)
	if days.From < first || days.To > last {
		return nil, nil, problem.Field("landing", "landing_days", maxLandingDays)
	}
	return days, ignored, nil
}

// parseCosts parses the figures of the caller; nil when there are none. The exchange
// rate among them is zero when there is none.
func parseCosts(value json.RawMessage) (costs *vehicle.Costs, rate decimal.Decimal, ignored []string, err error) {
	if jsonobject.IsAbsent(value) {
		return nil, rate, nil, nil
	}
	var req costsRequest
	if err := json.Unmarshal(value, &req); err != nil || value[0] != '{' {
		return nil, rate, nil, problem.Field("costs", "object").WithCause(err)
	}
	if err := parseDestination("costs.destination", req.Destination); err != nil {
		return nil, rate, nil, err
	}
	if rate, err = parseRate(req.ExchangeRate); err != nil {
		return nil, rate, nil, problem.Field("costs.exchangeRate", "rate", minRate, maxRate)
	}
	costs = &vehicle.Costs{}
	for _, parse := range []func(*vehicle.Costs) error{req.amounts, req.daysInPort, req.switches} {
		if err := parse(costs); err != nil {
			return nil, rate, nil, err
		}
	}
	if *costs == (vehicle.Costs{}) {
		costs = nil
	}
	return costs, rate, jsonobject.Unknown("costs.", value, req), nil
}

func (req *costsRequest) amounts(costs *vehicle.Costs) error {
	for _, field := range []struct {
		name  string
		value json.RawMessage
		max   int64
		into  **money.Number
	}{
		{"freightUSD", req.FreightUSD, maxPriceUSD, &costs.FreightUSD},
		{"insuranceUSD", req.InsuranceUSD, maxPriceUSD, &costs.InsuranceUSD},
		{"inspectionUSD", req.InspectionUSD, maxPriceUSD, &costs.InspectionUSD},
		{"bankUSD", req.BankUSD, maxPriceUSD, &costs.BankUSD},
		{"agentTZS", req.AgentTZS, maxCostTZS, &costs.AgentTZS},
		{"portTZS", req.PortTZS, maxCostTZS, &costs.PortTZS},
		{"inlandTZS", req.InlandTZS, maxCostTZS, &costs.InlandTZS},
		{"otherTZS", req.OtherTZS, maxCostTZS, &costs.OtherTZS},
		{"shippingM3", req.ShippingM3, maxM3, &costs.ShippingM3},
	} {
		var err error
		if *field.into, err = parseNumber(field.value, 0, field.max); err != nil {
			return problem.Field("costs."+field.name, "amount", 0, int(field.max)).WithCause(err)
		}
	}
	if costs.ShippingM3 != nil && costs.ShippingM3.Decimal().IsZero() {
		return problem.Field("costs.shippingM3", "positive", maxM3)
	}
	return nil
}

func (req *costsRequest) daysInPort(costs *vehicle.Costs) error {
	if jsonobject.IsAbsent(req.DaysInPort) {
		return nil
	}
	var days int
	if err := json.Unmarshal(req.DaysInPort, &days); err != nil || days < 0 || days > maxDaysInPort {
		return problem.Field("costs.daysInPort", "range", 0, maxDaysInPort)
	}
	costs.DaysInPort = &days
	return nil
}

func (req *costsRequest) switches(costs *vehicle.Costs) error {
	for _, field := range []struct {
		name  string
		value json.RawMessage
		into  **bool
	}{
		{"inspection", req.Inspection, &costs.Inspection},
		{"insurance", req.Insurance, &costs.Insurance},
		{"clearing", req.Clearing, &costs.Clearing},
		{"plates", req.Plates, &costs.Plates},
		{"comprehensive", req.Comprehensive, &costs.Comprehensive},
	} {
		if jsonobject.IsAbsent(field.value) {
			continue
		}
		var on bool
		if err := json.Unmarshal(field.value, &on); err != nil {
			return problem.Field("costs."+field.name, "switch")
		}
		*field.into = &on
	}
	return nil
}

// maxCostsQuery is the maximum length of costs in a query, in bytes.
const maxCostsQuery = 4096

// ParseQuery parses the terms in the query of a URL.
func ParseQuery(query url.Values, now time.Time) (terms vehicle.Terms, ignored []string, err error) {
	req, err := OfQuery(query)
	if err != nil {
		return terms, nil, err
	}
	return req.Parse(now)
}

// OfQuery returns the terms in the query of a URL as a body has them: rate, landing (one day, or
// two with .. between), costs (JSON), target (shillings on the road), byMonth and destination.
func OfQuery(query url.Values) (req Request, err error) {
	req.Rate = json.RawMessage(query.Get("rate"))
	if text := query.Get("landing"); text != "" {
		from, to, _ := strings.Cut(text, "..")
		if req.Landing, err = plainjson.Encode(vehicle.LandingDays{From: from, To: to}); err != nil {
			return req, err
		}
	}
	if text := query.Get("costs"); text != "" {
		if len(text) > maxCostsQuery || !json.Valid([]byte(text)) {
			return req, problem.Field("costs", "object")
		}
		req.Costs = bytes.TrimSpace([]byte(text))
	}
	if text := query.Get("target"); text != "" {
		if _, err := money.ParseDecimal(text); err != nil {
			return req, problem.Field("target", "amount", minTargetTZS, maxTargetTZS).WithCause(err)
		}
		req.Target = json.RawMessage(`{"onTheRoadTZS":` + text + `}`)
	}
	byMonth, err := request.Flag(query, "byMonth")
	if byMonth {
		req.ByMonth = json.RawMessage("true")
	}
	if text := query.Get("destination"); text != "" && err == nil {
		req.Destination, err = plainjson.Encode(text)
	}
	return req, err
}

// ErrRateInvalid rejects an exchange rate.
var ErrRateInvalid = problem.BadRequest("rate_invalid").Of("rate")

// Bounds of an exchange rate in shillings for a dollar. Since 2010 it was
// between about 1,500 and 2,800; a rate beyond the bounds is one of another
// currency.
const (
	minRate = 500
	maxRate = 10_000
)

// parseRate parses the optional exchange rate of a request. It is zero when
// there is none.
func parseRate(value json.RawMessage) (decimal.Decimal, error) {
	rate, err := parseNumber(value, minRate, maxRate)
	switch {
	case err != nil:
		return decimal.Zero, ErrRateInvalid.WithCause(err)
	case rate == nil:
		return decimal.Zero, nil
	}
	return rate.Decimal(), nil
}

// parseNumber parses a figure of a request that is between two bounds or one of them; it is nil
// when the field is absent.
func parseNumber(value json.RawMessage, least, most int64) (*money.Number, error) {
	if jsonobject.IsAbsent(value) {
		return nil, nil //nolint:nilnil // nil is a request without the figure
	}
	var n money.Number
	if err := json.Unmarshal(value, &n); err != nil {
		return nil, err
	}
	if n.Decimal().LessThan(decimal.NewFromInt(least)) || n.Decimal().GreaterThan(decimal.NewFromInt(most)) {
		return nil, fmt.Errorf("terms: %s is not between %d and %d", n, least, most)
	}
	return &n, nil
}

// ErrYenRateMissing means a price in yen without the rate of yen.
var ErrYenRateMissing = errors.New("described: no rate of yen")

// Bounds of a rate in yen for a dollar. Since 1986 it was between 75 and 200.
const (
	minJPY = 50
	maxJPY = 500
)

// ParseYenRate parses the field jpyPerUSD; it is nil when the field is absent.
func ParseYenRate(value json.RawMessage) (*money.Number, error) {
	rate, err := parseNumber(value, minJPY, maxJPY)
	if err != nil {
		return nil, problem.Field("jpyPerUSD", "amount", minJPY, maxJPY).WithCause(err)
	}
	return rate, nil
}

// InUSD returns a price in dollars, which a request gives in dollars or in yen by a field;
// nil when it gives neither. The one in dollars outranks the other.
func InUSD(usd, jpy json.RawMessage, field string, jpyPerUSD *money.Number) (json.RawMessage, error) {
	if !jsonobject.IsAbsent(usd) {
		return usd, nil
	}
	if jsonobject.IsAbsent(jpy) {
		return nil, nil
	}
	var yen money.Number
	if err := json.Unmarshal(jpy, &yen); err != nil || !yen.Decimal().IsPositive() {
		const maxYen = maxPriceUSD * maxJPY
		return nil, problem.Field(field, "positive", maxYen).WithCause(err)
	}
	if jpyPerUSD == nil {
		return nil, ErrYenRateMissing
	}
	const cents = 2
	return json.RawMessage(yen.Decimal().DivRound(jpyPerUSD.Decimal(), cents).String()), nil
}
