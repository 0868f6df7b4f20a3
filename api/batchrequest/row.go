package batchrequest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"ushuru/api/problem"
	"ushuru/api/terms"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/lot"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
)

const maxReference = 200 // bytes

// maxRejectedKept is how many invalid rows of a batch are stored in full. Of the others
// only the number is.
const maxRejectedKept = 200

// maxInvalid is the maximum number of invalid rows in a response.
const maxInvalid = 100

// Row is one row before it is checked.
type Row struct {
	carRequest

	Reference string `json:"reference"`
	URL       string `json:"url"`

	// Own are the cells of the caller's own columns.
	Own []string `json:"-"`

	number  int
	sheet   string           // of a workbook
	problem *problem.Problem // what is wrong with it already; nil for nothing
}

// carRequest is a car that a row of a batch describes: the fields of a quote, and
// prices in yen and of auctions.
type carRequest struct {
	terms.Car

	YearBasis string `json:"yearBasis"`

	CFPriceJPY     json.RawMessage `json:"cfPriceJPY"`
	FOBPriceJPY    json.RawMessage `json:"fobPriceJPY"`
	HammerPriceUSD json.RawMessage `json:"hammerPriceUSD"`
	HammerPriceJPY json.RawMessage `json:"hammerPriceJPY"`
	StartPriceUSD  json.RawMessage `json:"startPriceUSD"`
	StartPriceJPY  json.RawMessage `json:"startPriceJPY"`
}

// carFields are the fields of carRequest whose type is checked.
var carFields = []string{
	"make", "model", "modelCode", "rawModelCode", "version", "year", "yearBasis", "engine_cc", "fuel", "bodyType",
}

// Check returns the rows to store. An invalid row rejects the batch, unless it is to be
// skipped. URL returns the canonical form of a listing's URL, or why it is refused.
func (req *Request) Check(url func(string) (string, error)) ([]batch.Row, error) {
	switch {
	case len(req.Rows) == 0:
		return nil, errRowsMissing
	case len(req.Rows) > batch.MaxRows:
		return nil, errTooManyRows
	}
	rows, err := req.CheckRows(&req.Options, url)
	if err != nil {
		return nil, err
	}
	if questions := req.Questions(); len(questions) > 0 {
		return nil, unitProblem(questions[0])
	}
	if p := Invalid(rows); p != nil && (!req.Options.skipsInvalid() || p.RowCount == len(rows)) {
		return nil, p
	}
	return rows, nil
}

// CheckRows returns the rows to store, with other options than the request's if need be.
// Invalid rows have their problem. It returns an error for a price in yen without a rate.
func (req *Request) CheckRows(options *Options, url func(string) (string, error)) ([]batch.Row, error) {
	rows, rejected := make([]batch.Row, len(req.Rows)), 0
	several := req.Table != nil && len(req.Table.Further) > 0
	for i, row := range req.Rows {
		checked, err := row.check(options, url)
		if several {
			checked.Sheet = row.sheet
		}
		switch {
		case errors.Is(err, terms.ErrYenRateMissing):
			return nil, problem.New(http.StatusBadRequest, "jpy_rate_missing", message.Values{"row": rowName(checked)})
		case err == nil:
			rows[i] = checked
			continue
		}
		if rejected++; rejected > maxRejectedKept {
			rows[i] = batch.Row{Number: row.number, Sheet: checked.Sheet, RejectReason: rowProblem(errRowNotKept)}
			continue
		}
		rows[i] = batch.Row{ // their length may be the problem
			Number: row.number, Sheet: checked.Sheet, Reference: clip(row.Reference), URL: clip(row.URL), Own: row.Own,
			RejectReason: rowProblem(err),
		}
	}
	return rows, nil
}

// rowName returns the number of a row, with its sheet if there are several.
func rowName(row batch.Row) string {
	if row.Sheet == "" {
		return strconv.Itoa(row.Number)
	}
	return fmt.Sprintf("%d (%s)", row.Number, clip(row.Sheet))
}

// check returns a row to store, with its URL or car in canonical form, or its problem.
func (row *Row) check(options *Options, url func(string) (string, error)) (checked batch.Row, err error) {
	checked = batch.Row{
		Number: row.number, Reference: row.Reference, ModelBody: row.ModelBody, Own: row.Own,
		PriceCandidates: row.PriceCandidates,
	}
	switch {
	case row.problem != nil:
		return checked, row.problem
	case len(row.Reference) > maxReference || strings.ContainsFunc(row.Reference, unicode.IsControl):
		return checked, errReferenceInvalid
	case len(row.ModelBody) > terms.MaxLabel:
		return checked, errRowLabelInvalid
	case row.URL == "" && row.isEmpty() && row.ModelBody == "":
		return checked, errRowURLMissing
	case row.URL == "":
		return checked, row.describe(&checked, options.JPYPerUSD)
	}
	if checked.URL, err = url(row.URL); err != nil {
		return checked, err
	}
	row.Known = row.addTo(row.Known, options.JPYPerUSD)
	checked.Known, err = knownOf(row.Known)
	return checked, err
}

// knownOf returns the canonical JSON of known values; nil for none.
func knownOf(values json.RawMessage) (json.RawMessage, error) {
	known, err := terms.ParseKnown(values)
	if err != nil || known == nil {
		return nil, err
	}
	return plainjson.Encode(known)
}

// rowProblem returns the error that is stored with an invalid row.
func rowProblem(err error) *jobs.Error {
	var p *problem.Problem
	if !errors.As(err, &p) {
		p = errInternal
	}
	return &jobs.Error{Notice: p.Notice, Permanent: p.Status < http.StatusInternalServerError}
}

// clip returns the beginning of a text of an invalid row.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxReference)], "")
}

// Invalid returns the problem that lists the invalid rows; nil when there
// are none.
func Invalid(rows []batch.Row) *problem.Problem {
	p := *errRowsInvalid
	for _, row := range rows {
		if row.RejectReason == nil {
			continue
		}
		if p.RowCount++; p.RowCount <= maxInvalid {
			why := row.RejectReason
			p.Rows = append(p.Rows, problem.Row{
				Row: row.Number, Sheet: row.Sheet, Reference: row.Reference, URL: row.URL,
				Code: why.Code, Error: why.Message, Text: why.Text,
			})
		}
	}
	if p.RowCount == 0 {
		return nil
	}
	counts := message.Values{"invalid": strconv.Itoa(p.RowCount), "rows": strconv.Itoa(len(rows))}
	p.Notice = message.New("error/rows_invalid", counts)
	return &p
}

// describe gives a row the car that it describes, in canonical form.
func (row *Row) describe(to *batch.Row, jpyPerUSD *money.Number) error {
	fob, cf, basis, err := row.basePrices(jpyPerUSD)
	if err != nil {
		return err
	}
	car := row.Car
	car.FOBPriceUSD, car.CFPriceUSD = fob, cf
	input, err := car.Canonical()
	if err != nil {
		return err
	}
	if input.YearBasis == "" && row.YearBasis != terms.Manufacture {
		if row.YearBasis != "" && !terms.IsYearBasis(row.YearBasis) {
			return problem.Field("yearBasis", "year_basis")
		}
		input.YearBasis = row.YearBasis
	}
	to.PriceBasis = string(basis)
	to.ModelBody, to.PriceCandidates = "", false // the car has them
	to.Car, err = plainjson.Encode(input)
	return err
}

// addTo adds what a row with a URL says of the car to the values known of it. They
// outrank what the columns say. A year of registration adds nothing to a listing, and
// an auction's price is not the seller's.
func (row *Row) addTo(known json.RawMessage, jpyPerUSD *money.Number) json.RawMessage {
	values := map[string]any{}
	add := func(name string, value any, given bool) {
		if given {
			values[name] = value
		}
	}
	add("year", row.Year, row.Year != nil && (row.YearBasis == "" || row.YearBasis == terms.Manufacture))
	add("engine_cc", row.EngineCC, row.EngineCC != nil)
	add("fuel", row.Fuel, row.Fuel != "")
	add("bodyType", row.BodyType, row.BodyType != "")
	add("modelCode", row.ModelCode, row.ModelCode != "")
	add("modelCode", row.RawModelCode, row.RawModelCode != "")
	for name, kind := range map[string]lot.PriceKind{"fobPriceUSD": lot.FOB, "cfPriceUSD": lot.CF} {
		price, err := row.price(kind, jpyPerUSD)
		add(name, price, err == nil && price != nil)
	}
	if len(values) == 0 {
		return known
	}
	var given map[string]json.RawMessage
	if !jsonobject.IsAbsent(known) && json.Unmarshal(known, &given) != nil {
		return known // which is refused
	}
	for name, value := range given {
		values[name] = value
	}
	merged, err := plainjson.Encode(values)
	if err != nil {
		return known // which is texts and numbers
	}
	return merged
}

// setLot takes over a row of a table.
func (row *Row) setLot(r lot.Row) {
	row.URL, row.Reference, row.ModelBody, row.PriceCandidates = r.URL, r.Reference, r.ModelBody, r.PriceCandidates
	row.Make, row.Model, row.ModelCode, row.Version = r.Make, r.Model, r.ModelCode, r.Version
	row.Fuel, row.BodyType, row.YearBasis = r.Fuel, r.BodyType, r.YearBasis
	if r.Year != 0 {
		row.Year = &r.Year
	}
	if r.EngineCC != 0 {
		row.EngineCC = &r.EngineCC
	}
	if r.M3 != "" {
		row.M3 = json.RawMessage(r.M3)
	}
	for _, price := range r.Prices {
		usd, jpy := row.prices(price.Kind)
		amount := json.RawMessage(price.Amount.String())
		if price.Currency == lot.JPY {
			*jpy = amount
		} else {
			*usd = amount
		}
	}
}

func (c *carRequest) isEmpty() bool {
	return c.Make+c.Model+c.ModelCode+c.RawModelCode == ""
}

// basePrices returns the prices that the cost is computed from, and which they are. The
// price of an auction stands for the price without freight where the row has no other.
func (c *carRequest) basePrices(jpyPerUSD *money.Number) (fob, cf json.RawMessage, basis lot.PriceKind, err error) {
	if cf, err = c.price(lot.CF, jpyPerUSD); err != nil {
		return nil, nil, "", err
	}
	if fob, err = c.price(lot.FOB, jpyPerUSD); err != nil {
		return nil, nil, "", err
	}
	switch {
	case fob != nil:
		return fob, cf, lot.FOB, nil
	case cf != nil:
		return nil, cf, lot.CF, nil
	}
	for _, kind := range []lot.PriceKind{lot.Hammer, lot.Start} {
		if fob, err = c.price(kind, jpyPerUSD); fob != nil || err != nil {
			return fob, nil, kind, err
		}
	}
	return nil, nil, "", nil
}

// price returns a price in dollars; nil when the row has none of the kind.
func (c *carRequest) price(kind lot.PriceKind, jpyPerUSD *money.Number) (json.RawMessage, error) {
	usd, jpy := c.prices(kind)
	return terms.InUSD(*usd, *jpy, string(kind)+"PriceJPY", jpyPerUSD)
}

// prices are the prices of the row by their kinds, in dollars and in yen.
func (c *carRequest) prices(kind lot.PriceKind) (usd, jpy *json.RawMessage) {
	switch kind {
	case lot.CF:
		return &c.CFPriceUSD, &c.CFPriceJPY
	case lot.FOB:
		return &c.FOBPriceUSD, &c.FOBPriceJPY
	case lot.Hammer:
		return &c.HammerPriceUSD, &c.HammerPriceJPY
	case lot.Start:
		return &c.StartPriceUSD, &c.StartPriceJPY
	}
	return new(json.RawMessage), new(json.RawMessage)
}
