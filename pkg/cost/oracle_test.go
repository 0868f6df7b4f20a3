package cost_test

import (
	"encoding/csv"
	"flag"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
)

var oracleAll = flag.Bool("oracle.all", false, "compare all landing days and ages with the oracle: it takes a minute")

// oracle is a second computation of the taxes, which shares no code and no table with
// the product. It is written from the law (docs/sources.md, Taxes), for the rules up
// to June 2026 and since.
type oracle struct {
	fuel, body string
	cc, made   int
	asked      string // day of the authority's answer
}

const newLaw = "2026-07-01"

// oracleFX is shillings for a dollar.
const oracleFX = "2565.98"

func year(day string) int { n, _ := strconv.Atoi(day[:4]); return n }

// agePercent is the excise duty for age by the old or the new law. At ten years the
// old law said 15 %, and 30 % was charged.
func (o oracle) agePercent(isNew bool, age int) int64 {
	switch {
	case o.fuel == "ELECTRIC" || age < 8:
		return 0
	case isNew && age <= 10:
		return 18
	case isNew && age <= 20:
		return 35
	case isNew:
		return 40
	case age < 10:
		return 15
	}
	return 30
}

// ageOn is the excise duty for age on a landing day. The new law rests on one source:
// the old one counts too where the authority's answer fits it.
func (o oracle) ageOn(day string) int64 {
	then, now := year(o.asked)-o.made, year(day)-o.made
	charged := o.agePercent(o.asked >= newLaw, then)
	same := then == now && (o.asked >= newLaw) == (day >= newLaw)
	if same || o.body == "TRUCK" || o.body == "MINIBUS" { // whose steps are not known
		return charged
	}
	percent := o.agePercent(day >= newLaw, now)
	if o.agePercent(false, then) == charged {
		percent = max(percent, o.agePercent(false, now))
	}
	return percent
}

// excisePercent is the excise duty by the engine.
func (o oracle) excisePercent(day string) int64 {
	switch {
	case o.fuel == "ELECTRIC", o.cc <= 1000 && (o.fuel == "DIESEL" || day < newLaw):
		return 0
	case o.cc <= 2000:
		return 5
	}
	return 10
}

func (o oracle) flat() (hiv, registration int64) {
	switch {
	case o.cc <= 500:
		return 50_000, 300_000
	case o.cc <= 1000:
		return 50_000, 450_000
	case o.cc <= 1500:
		return 100_000, 450_000
	case o.cc <= 2500:
		return 150_000, 500_000
	}
	return 200_000, 550_000
}

// taxes are the amounts of a landing day on a customs value, as they are printed.
func (o oracle) taxes(day string, cif *big.Rat) vehicle.Tax {
	of := func(base *big.Rat, n, d int64) *big.Rat { return new(big.Rat).Mul(base, big.NewRat(n, d)) }
	sum := func(all ...*big.Rat) *big.Rat {
		total := new(big.Rat)
		for _, one := range all {
			total.Add(total, one)
		}
		return total
	}
	fx, _ := new(big.Rat).SetString(oracleFX)
	hiv, registration := o.flat()
	flat := big.NewRat(hiv+registration, 1)
	customs := of(cif, 25, 100)
	dutied := sum(cif, customs)
	excise, age := of(dutied, o.excisePercent(day), 100), of(dutied, o.ageOn(day), 100)
	fee, railway := of(cif, 6, 1000), of(cif, 2, 100)
	if day >= newLaw {
		fee = of(cif, 1, 100)
	}
	vat := of(sum(cif, customs, excise, age, fee, railway, new(big.Rat).Quo(flat, fx)), 18, 100)
	usd := sum(customs, excise, age, fee, railway, vat)
	tzs := new(big.Rat).Mul(usd, fx)
	text := func(r *big.Rat) string { return r.FloatString(2) }
	return vehicle.Tax{
		ReferenceNumber: "ORACLE", YOM: o.made, FuelType: o.fuel, BodyType: o.body, CIFInUSD: amount(text(cif)),
		ImportDutyInUSD: amount(text(customs)), ExiseDutyInUSD: amount(text(excise)), ExiseDutyDueToAgeInUSD: amount(text(age)),
		VATInUSD: amount(text(vat)), CustomProcessingFeeInUSD: amount(text(fee)), RailwayDevLevyInUSD: amount(text(railway)),
		TotalImportTaxesInUSD: amount(text(usd)), TotalImportTaxesInTZS: amount(text(tzs)),
		HIVRespLevy: amount(strconv.FormatInt(hiv, 10)), VehicleRegistrationFeeInTZS: amount(strconv.FormatInt(registration, 10)),
		TotalTaxesInTZS: amount(text(sum(tzs, flat))),
	}
}

// catalogued returns one car of each origin, fuel, band and body of the demo's
// authority, with its value as new.
func catalogued(t *testing.T) (cars []vehicle.Tax, asNew []int64) {
	t.Helper()
	file, err := os.Open("../tra/tratest/catalogue.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comment, reader.FieldsPerRecord = '#', 7
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		value, _ := strconv.ParseInt(row[6], 10, 64)
		body := row[1][strings.LastIndex(row[1], " - ")+1:]
		for country := range strings.SplitSeq(row[4], "|") {
			for fuel := range strings.SplitSeq(row[2], "|") {
				for band := range strings.SplitSeq(row[3], "|") {
					key := strings.Join([]string{body, country, fuel, band}, "/")
					if value == 0 || seen[key] {
						continue
					}
					seen[key] = true
					cars = append(cars, vehicle.Tax{
						Country: country, FuelType: fuel, EngineCapacity: band, BodyType: strings.TrimPrefix(body, "- "),
					})
					asNew = append(asNew, value)
				}
			}
		}
	}
	return cars, asNew
}

// upperCC returns the upper end of a band, in which the law sees the whole band.
func upperCC(band string) int {
	words := strings.Fields(strings.TrimSuffix(band, " CC"))
	n, _ := strconv.Atoi(words[len(words)-1])
	if words[0] == "ABOVE" {
		n++
	}
	return n
}

// landingsOf are the landing days around the turns of the year, of the law and of the
// quarters, by the day on which the authority is asked.
var landingsOf = map[string][]string{
	"2025-12-20": {"2025-12-31", "2026-01-01", "2026-03-31", "2026-04-01", "2026-06-30", "2026-07-01"},
	"2026-06-20": {"2026-06-30", "2026-07-01", "2026-09-30", "2026-10-01", "2026-12-31", "2027-01-01"},
	"2026-11-22": {"2026-12-31", "2027-01-01", "2027-03-31", "2027-04-01", "2027-06-30", "2027-07-01", "2027-12-31", "2028-01-01"},
}

// The taxes of each origin and type of the demo's cars agree to the cent with the
// oracle, on the authority's value and on an invoice below and above it. A tenth of
// the landing days and ages of each car is compared, or all with -oracle.all.
func TestTheTaxesAgreeWithTheOracle(t *testing.T) {
	cars, asNew := catalogued(t)
	compared := 0
	for asked, landings := range landingsOf {
		for i, car := range cars {
			for k, age := range []int{0, 6, 7, 8, 9, 10, 11, 19, 20, 21} {
				o := oracle{fuel: car.FuelType, body: car.BodyType, cc: upperCC(car.EngineCapacity), made: year(asked) - age, asked: asked}
				own := big.NewRat(asNew[i]*int64(100-4*age)/100, 1)
				for j, landing := range landings {
					if !*oracleAll && (i+j+k)%testenv.Pick(10, 40) != 0 {
						continue
					}
					o.compare(t, car, own, landing, []string{"", "0.7", "1.25"}[(i/10+j+age)%3])
					compared++
				}
			}
		}
	}
	if t.Logf("%d cars, %d taxes compared", len(cars), compared); len(cars) < 100 || compared < 1000 {
		t.Error("too few")
	}
}

// compare checks the taxes of a landing day, at a price that is a share of the
// authority's value.
func (o oracle) compare(t *testing.T, car vehicle.Tax, own *big.Rat, landing, share string) {
	t.Helper()
	answer := o.taxes(o.asked, own)
	answer.Country, answer.EngineCapacity = car.Country, car.EngineCapacity
	taxed, e := own, vehicle.Estimate{Tax: answer}
	if share != "" {
		part, _ := new(big.Rat).SetString(share)
		cif := new(big.Rat).Mul(own, part)
		e.Car.CFPriceUSD = number(cif.FloatString(2))
		if cif.Cmp(own) > 0 {
			taxed = cif
		}
	}
	now, err := time.ParseInLocation(time.DateOnly, o.asked, localtime.Zone)
	if err != nil {
		t.Fatal(err)
	}
	off := false
	got := cost.Embedded().Calculate(e, vehicle.Terms{
		Landing: &vehicle.LandingDays{From: landing, To: landing}, Costs: &vehicle.Costs{Insurance: &off},
	}, now).DriveAway
	want := o.taxes(landing, taxed)
	name := strings.Join([]string{o.asked, landing, car.Country, o.fuel, o.body, car.EngineCapacity, strconv.Itoa(o.made), share}, " ")
	imports, hiv, registration := lineOf(got, "import_taxes"), lineOf(got, "hiv_levy"), lineOf(got, "registration")
	total := imports.AmountTZS.Decimal().Add(hiv.AmountTZS.Decimal()).Add(registration.AmountTZS.Decimal())
	pairs := [][3]string{
		{"USD", imports.AmountUSD.String(), want.TotalImportTaxesInUSD.String()},
		{"TZS", imports.AmountTZS.String(), want.TotalImportTaxesInTZS.String()},
		{"all TZS", total.StringFixed(2), want.TotalTaxesInTZS.Decimal().StringFixed(2)},
		{"HIV", hiv.AmountTZS.String(), want.HIVRespLevy.String()},
		{"registration", registration.AmountTZS.String(), want.VehicleRegistrationFeeInTZS.String()},
	}
	if r := got.TaxBase.Recomputed; r != nil {
		pairs = append(pairs,
			[3]string{"duty", r.ImportDutyInUSD.String(), want.ImportDutyInUSD.String()},
			[3]string{"excise", r.ExciseDutyInUSD.String(), want.ExiseDutyInUSD.String()},
			[3]string{"age", r.ExciseDutyDueToAgeInUSD.String(), want.ExiseDutyDueToAgeInUSD.String()},
			[3]string{"CPF", r.CustomProcessingFeeInUSD.String(), want.CustomProcessingFeeInUSD.String()},
			[3]string{"RDL", r.RailwayDevLevyInUSD.String(), want.RailwayDevLevyInUSD.String()},
			[3]string{"VAT", r.VATInUSD.String(), want.VATInUSD.String()},
			[3]string{"total", r.TotalTaxesInTZS.String(), want.TotalTaxesInTZS.String()},
		)
	} else if answer.TotalTaxesInTZS.String() != want.TotalTaxesInTZS.String() {
		t.Errorf("%s: not computed, and the answer is %s, not %s", name, answer.TotalTaxesInTZS, want.TotalTaxesInTZS)
	}
	for _, p := range pairs {
		if p[1] != p[2] {
			t.Errorf("%s: %s is %s, the oracle says %s", name, p[0], p[1], p[2])
		}
	}
}
