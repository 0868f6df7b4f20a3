package batchrequest

import (
	"encoding/json"

	"ushuru/api/problem"
	"ushuru/api/terms"
	"ushuru/pkg/batch"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/lot"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
)

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

func (c *carRequest) isEmpty() bool {
	return c.Make+c.Model+c.ModelCode+c.RawModelCode == ""
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

// price returns a price in dollars; nil when the row has none of the kind.
func (c *carRequest) price(kind lot.PriceKind, jpyPerUSD *money.Number) (json.RawMessage, error) {
	usd, jpy := c.prices(kind)
	return terms.InUSD(*usd, *jpy, string(kind)+"PriceJPY", jpyPerUSD)
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
