package freight

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/vehicle"
)

// Observation is what one listing says of shipping.
type Observation struct {
	Site    string // name of the site
	Origin  string // country where the car is, in capitals
	StockNo string
	Make    string
	Model   string
	Body    string
	M3      decimal.Decimal
	USD     decimal.Decimal // freight and insurance: C&F less FOB; zero when the listing does not state both
	Day     time.Time
}

// What a listing can truly say; anything else is a misprint or a trap.
var (
	minM3, maxM3     = decimal.NewFromInt(4), decimal.NewFromInt(80)
	minRate, maxRate = decimal.NewFromInt(20), decimal.NewFromInt(600) // USD per m³
)

// maxName is the most bytes of make, model and body together.
const maxName = 120

// defaultOrigin is where a car is whose listing names no place.
const defaultOrigin = "JAPAN"

// ObservationOf returns what the listing of a site says of shipping; false when it
// says nothing that can be used.
func ObservationOf(site string, car vehicle.Car, day time.Time) (Observation, bool) {
	if site == "" || car.StockNo == "" || len(car.Make+car.Model+car.BodyType) > maxName || car.M3 == nil || car.Auction != nil {
		return Observation{}, false
	}
	o := Observation{
		Site: site, Origin: OriginOf(car), StockNo: car.StockNo, Day: day,
		Make: car.Make, Model: car.Model, Body: car.BodyType, M3: car.M3.Decimal(),
	}
	if o.M3.LessThan(minM3) || o.M3.GreaterThan(maxM3) {
		return Observation{}, false
	}
	if car.FOBPriceUSD != nil && car.CFPriceUSD != nil {
		usd := car.CFPriceUSD.Decimal().Sub(car.FOBPriceUSD.Decimal())
		if rate := usd.Div(o.M3); !rate.LessThan(minRate) && !rate.GreaterThan(maxRate) {
			o.USD = usd
		}
	}
	return o, true
}

// OriginOf returns the country where a car is, in capitals.
func OriginOf(car vehicle.Car) string {
	if car.LocatedIn == "" {
		return defaultOrigin
	}
	return strings.ToUpper(car.LocatedIn)
}

// id names the car at its site; strangers' text never becomes part of a key.
func (o Observation) id() string { return digest(o.Site, o.StockNo) }

// digest returns a short name for texts of any length.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.ToUpper(strings.Join(parts, "\x00"))))
	return hex.EncodeToString(sum[:10])
}

// entry is an observation as it is stored: value, day, and the site when values of
// several sites stand together.
type entry struct {
	site  string
	value decimal.Decimal
	day   time.Time
}
