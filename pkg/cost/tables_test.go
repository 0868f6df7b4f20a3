package cost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/golden"
	"ushuru/pkg/localtime"
	"ushuru/pkg/vehicle"
)

func tablesOf(t *testing.T, content string) (*cost.Tables, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "costs.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return cost.Load(path)
}

const operators = `{
	"lines": [
		{"code": "freight", "fees": [
			{"until": "2026-11-30", "amount": {"value": "900", "unit": "USD"}, "standing": "quoted", "source": "our line", "date": "2026-11"},
			{"from": "2026-12-01", "amount": {"value": "950", "unit": "USD"}, "standing": "quoted", "source": "our line", "date": "2026-12"}
		]},
		{"code": "plate", "fees": []},
		{"code": "storage", "name": {"en": "Storage", "sw": "Hifadhi"}, "fees": [
			{"from": "2027-01-01", "amount": {"value": "10000", "unit": "TZS"}, "standing": "typical", "source": "us", "date": "2026"}
		]}
	],
	"volumes": {"source": "our yard", "date": "2026", "bodies": [{"names": ["SUV"], "low": "12", "typical": "13", "high": "14"}]}
}`

func TestTheOperatorsFileStandsOverTheTables(t *testing.T) {
	tables, err := tablesOf(t, operators)
	if err != nil {
		t.Fatal(err)
	}
	estimate := vehicle.Estimate{Car: vehicle.Car{FOBPriceUSD: number("2000")}, Tax: forester}
	drive, _ := landed(tables, estimate, dec("2650"), november)
	amounts := map[string]string{}
	for _, l := range drive.Lines {
		amounts[l.Code] = l.AmountUSD.String()
	}
	for code, want := range map[string]string{
		"freight": "900.00", "handling": "107.38" /* 13 m³ */, "plate": "", "delivery_order": "68.00", "storage": "",
	} {
		if amounts[code] != want {
			t.Errorf("%s is %q, want %q", code, amounts[code], want)
		}
	}
	if drive.Complete || len(drive.Missing) != 1 || drive.Missing[0].Code != "storage" {
		t.Errorf("complete %v, missing %+v; the fee of storage begins in 2027", drive.Complete, drive.Missing)
	}
	lastDay, _ := landed(tables, estimate, dec("2650"), time.Date(2026, 11, 30, 20, 59, 0, 0, time.UTC))
	if got := lastDay.Lines[1].AmountUSD.String(); got != "900.00" {
		t.Errorf("on the last day of the fee freight is %s", got)
	}
	december, _ := landed(tables, estimate, dec("2650"), time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)) // 1 December there
	if got := december.Lines[1]; got.Code != "freight" || got.AmountUSD.String() != "950.00" || got.Standing != vehicle.Quoted {
		t.Errorf("in December: %+v", got)
	}
	later, _ := landed(tables, estimate, dec("2650"), time.Date(2027, 2, 1, 9, 0, 0, 0, localtime.Zone))
	if last := later.Lines[len(later.Lines)-1]; last.Code != "storage" || last.Name.SW != "Hifadhi" || !later.Complete {
		t.Errorf("in 2027: %+v, missing %+v", last, later.Missing)
	}
	if embedded, _ := landed(cost.Embedded(), estimate, dec("2650"), november); embedded.Lines[1].AmountUSD.String() == "900.00" {
		t.Error("the embedded tables were changed")
	}
}

func TestWithoutAFileTheTablesAreTheEmbedded(t *testing.T) {
	if tables, err := cost.Load(""); err != nil || tables != cost.Embedded() {
		t.Errorf("%v, %v", tables, err)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	fee := func(fields string) string {
		return `{"lines": [{"code": "plate", "fees": [{` + fields + `}]}]}`
	}
	const rest = `"standing": "typical", "source": "us", "date": "2026"`
	const amount = `"amount": {"value": "1", "unit": "USD"}, `
	for name, c := range map[string]struct{ content, says string }{
		"not JSON":                 {`lines`, "invalid character"},
		"two objects":              {`{} {}`, "more than one"},
		"a misspelt field":         {`{"line": []}`, `unknown field "line"`},
		"no fees":                  {`{"lines": [{"code": "plate"}]}`, `write "fees": []`},
		"fees of the authority":    {`{"lines": [{"code": "import_taxes", "fees": []}]}`, "takes no fees"},
		"a new line without name":  {`{"lines": [{"code": "storage", "fees": []}]}`, "needs en and sw"},
		"a bad code":               {`{"lines": [{"code": "My Fee", "name": {"en": "x", "sw": "x"}, "fees": []}]}`, "lower-case"},
		"no amount":                {fee(rest), "unknown unit"},
		"a negative amount":        {fee(`"amount": {"value": "-1", "unit": "USD"}, ` + rest), "not a valid amount"},
		"1.6 for 1.6 %":            {fee(`"amount": {"value": "1.6", "unit": "CIF"}, ` + rest), "0.016 for 1.6 %"},
		"low above amount":         {fee(amount + `"low": {"value": "2", "unit": "USD"}, ` + rest), "low is above"},
		"high below amount":        {fee(amount + `"high": {"value": "0", "unit": "USD"}, ` + rest), "high is below"},
		"no source":                {fee(amount + `"standing": "typical", "date": "2026"`), "source and date"},
		"no standing":              {fee(amount + `"source": "us", "date": "2026"`), "standing must be"},
		"no day":                   {fee(amount + `"from": "July 2026", ` + rest), "example: 2026-07-01"},
		"days backwards":           {fee(amount + `"from": "2026-07-01", "until": "2026-06-30", ` + rest), "until is before"},
		"VAT in percent":           {fee(amount + `"vat": "18", ` + rest), "vat must be a fraction"},
		"only and except":          {fee(amount + `"only": "JAPAN", "except": "UAE", ` + rest), "only and except exclude"},
		"two fees at a time":       {`{"lines": [{"code": "plate", "fees": [{` + amount + rest + `}, {` + amount + rest + `}]}]}`, "days of another fee"},
		"a clamp of dollars":       {fee(amount + `"clamp": {"low": "1", "high": "2"}, ` + rest), "clamp belongs"},
		"freight by the tax":       {`{"lines": [{"code": "freight", "fees": [{"amount": {"value": "0.1", "unit": "import_taxes"}, ` + rest + `}]}]}`, "cannot be used here"},
		"a body of no volume":      {`{"volumes": {"source": "us", "date": "2026", "bodies": [{"names": ["VAN"], "low": "0", "typical": "1", "high": "2"}]}}`, "low ≤ typical ≤ high"},
		"volumes without a source": {`{"volumes": {"bodies": [{"names": ["VAN"], "low": "1", "typical": "1", "high": "2"}]}}`, "volumes: source and date"},
	} {
		if _, err := tablesOf(t, c.content); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := cost.Load(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a file that is not there was read")
	}
}

// The volume of a motorcycle, a bus or another vehicle of which no source is known is not
// guessed: what is charged by it is missing until the caller or the listing names it.
func TestAnUnknownVolumeIsNotGuessed(t *testing.T) {
	t.Parallel()
	byVolume := "handling corridor_levy green_port shipping_agency_fee"
	for body, want := range map[string]string{
		"MOTORCYCLE": byVolume, "MINI BUS": byVolume, "BUS": byVolume, "Scooter": byVolume, "DUMP TRUCK": "", "SUV": "", "": "", "VAN": "",
	} {
		e, _ := quotedPrice(november)
		e.Car.M3, e.Tax.BodyType = nil, body
		terms := onDays(cost.DefaultRate, november, november)
		a := cost.Embedded().Calculate(e, terms, november)
		var got []string
		for _, m := range a.DriveAway.Missing {
			if m.ReasonCode != "no_volume" || !strings.Contains(m.Text.EN, "volume") {
				t.Errorf("%s: got %s missing because of %s, want no_volume", body, m.Code, m.ReasonCode)
			}
			got = append(got, m.Code)
		}
		asks := slices.ContainsFunc(a.Summary.Ask, func(q vehicle.Question) bool { return q.Code == "volume" })
		if strings.Join(got, " ") != want || asks != (want != "") {
			t.Errorf("%s: got %v missing, asks for the volume: %v, want %q", body, got, asks, want)
		}
		terms.Costs = &vehicle.Costs{ShippingM3: number("4.5")}
		if known := cost.Embedded().Calculate(e, terms, november); !known.DriveAway.Complete {
			t.Errorf("%s with a volume: got %+v missing, want nothing", body, known.DriveAway.Missing)
		}
	}
}

// An operator's file stands over the storage and the landing times, and its own words
// are shown in both languages.
func TestAFileStandsOverStorageAndLanding(t *testing.T) {
	t.Parallel()
	tables, err := cost.Parse([]byte(`{
		"landings": [{"countries": ["JAPAN"], "from_days": 20, "to_days": 30, "standing": "quoted", "source": "our line", "date": "2026-11"}],
		"storage": {"free_days": 3, "free_days_most": 3, "per_day": "2.00", "days": 10, "per_day_later": "4.00", "removal": "0", "vat": "0",
			"standing": "official", "source": "our port", "date": "2026-11"},
		"lines": [{"code": "plate", "fees": [{"amount": {"value": "50000", "unit": "TZS"}, "basis": {"en": "our words", "sw": "maneno yetu"},
			"standing": "quoted", "source": "our shop", "date": "2026-11"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	days := 15
	e := vehicle.Estimate{
		Tax: answer(november, 2019, 1496, "PETROL", "3199"),
		Car: vehicle.Car{FOBPriceUSD: number("4000"), M3: number("10"), LocatedIn: "JAPAN"},
	}
	a := tables.Calculate(e, vehicle.Terms{Costs: &vehicle.Costs{DaysInPort: &days}}, november)
	if l := a.Summary.Landing; l.From != dayOf(november.AddDate(0, 0, 20)) || l.To != dayOf(november.AddDate(0, 0, 30)) ||
		l.Basis.Values["source"] != "our line" {
		t.Errorf("landing %+v", l)
	}
	// 12 days after the free ones: 10 at 2 and 2 at 4 dollars for each of 10 m³.
	storage := lineOf(a.DriveAway, "port_storage")
	if storage.AmountUSD.String() != "280.00" || storage.LowUSD.String() != storage.HighUSD.String() || storage.Source != "our port" ||
		storage.Standing != vehicle.Official {
		t.Errorf("storage %+v", storage)
	}
	if want := "15 days in the port; USD 2 per cubic metre and day after 3 free days (by older sources 3); USD 4 after 10 days"; storage.Basis != want {
		t.Errorf("basis %q", storage.Basis)
	}
	if plate := lineOf(a.DriveAway, "plate"); plate.BasisText.SW != "TSh 50,000.00 kwa gari moja; maneno yetu" {
		t.Errorf("plate %+v", plate.BasisText)
	}
	without := tables.Calculate(e, vehicle.Terms{}, november).Summary.NotIncluded[0]
	if without.Code != "port_storage" || *without.PerDayUSD != 20 || without.Text.Values["free"] != "3" {
		t.Errorf("not included %+v", without)
	}
	for name, bad := range map[string]string{
		"landing backwards": `{"landings": [{"countries": ["JAPAN"], "from_days": 30, "to_days": 20, "standing": "quoted", "source": "s", "date": "2026"}]}`,
		"no source":         `{"storage": {"free_days": 3, "free_days_most": 3, "per_day": "1", "per_day_later": "1", "removal": "0", "vat": "0", "standing": "official"}}`,
		"one language": `{"lines": [{"code": "plate", "fees": [{"amount": {"value": "1", "unit": "TZS"}, "basis": {"en": "x"},
			"standing": "quoted", "source": "s", "date": "2026"}]}]}`,
		"an unknown remark": `{"lines": [{"code": "plate", "fees": [{"amount": {"value": "1", "unit": "TZS"}, "remark": "none",
			"standing": "quoted", "source": "s", "date": "2026"}]}]}`,
	} {
		if _, err := cost.Parse([]byte(bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// docs/sources.md lists every fee of the embedded tables singly, with its source.
func TestSourcesListEveryFee(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/sources.md", "<!-- fees -->\n", "<!-- end -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no list between %q and %q", path, begin, end)
	}
	var list strings.Builder
	list.WriteString("| fee | days, countries | value (low..high) | date | source |\n|---|---|---|---|---|\n")
	for _, r := range cost.Embedded().Rows() {
		where := strings.Trim(r.Days+"; "+shortened(r.Countries), "; ")
		value := r.Value
		if r.Standing != string(vehicle.Typical) {
			value += " " + r.Standing
		}
		_, _ = fmt.Fprintf(&list, "| `%s` | %s | %s | %s | %s |\n", r.Code, where, value, r.Date, r.Source)
	}
	golden.Check(t, path, before+begin+list.String()+end+after)
}

// shortened returns the first two of a list of countries.
func shortened(countries string) string {
	names := strings.Split(countries, ", ")
	if len(names) <= 3 {
		return countries
	}
	return strings.Join(names[:2], ", ") + " …"
}
