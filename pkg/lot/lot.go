// Package lot reads rows of tables as cars: lots of auctions, stock of exporters, or URLs
// of listings. It recognises the names of columns in English and Japanese, and their
// units. A value that cannot be read is a problem with its column; nothing is guessed.
package lot

import (
	"github.com/shopspring/decimal"
)

// PriceKind says what a price is.
type PriceKind string

// The kinds of prices, the best first. Those of auctions do not include what the
// exporter adds until the car is on board.
const (
	CF     PriceKind = "cf" // cost and freight to Dar es Salaam
	FOB    PriceKind = "fob"
	Hammer PriceKind = "hammer" // where bidding ended
	Start  PriceKind = "start"  // where bidding begins
)

// The currencies.
const (
	USD = "USD"
	JPY = "JPY"
)

// Price is a price of a lot.
type Price struct {
	Kind     PriceKind
	Amount   decimal.Decimal
	Currency string
	Column   string
}

// Row is a row as it was understood. An empty field was not in the row.
type Row struct {
	URL             string
	Reference       string
	ModelBody       string
	PriceCandidates bool
	Known           map[string]string // the columns known.*, by the rest of their names in lower case

	Make, Model, ModelCode, Version, Fuel, BodyType, M3 string
	Year                                                int
	YearBasis                                           string // manufacture, registration or model
	EngineCC                                            int
	Prices                                              []Price

	Problems []Problem
}

// Problem is a cell that cannot be read.
type Problem struct {
	Column string // its name, as the table has it
	Value  string
	Field  string
	// Currency means that the amount was read, but neither cell nor column says in which
	// currency, or in one that is not USD or JPY.
	Currency bool
}
