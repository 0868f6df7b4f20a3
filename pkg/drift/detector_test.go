package drift_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shopspring/decimal"

	"ushuru/pkg/drift"
	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
	"ushuru/pkg/metrics"
	"ushuru/pkg/money"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/vehicle"
)

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func day(text string) time.Time {
	date, err := time.ParseInLocation(time.DateOnly, text, localtime.Zone)
	if err != nil {
		panic(err)
	}
	return date
}

// answer is what the authority prints by rules.
func answer(rules duty.Rules, age, cc int, fuel, band string, on time.Time) vehicle.Tax {
	b := rules.Compute(duty.Vehicle{CC: cc, Fuel: fuel, Age: age}, dec("4321"), dec("2565.98"))
	print2 := func(a money.Amount) money.Amount { return money.New(a.Decimal().Round(2)) }
	return vehicle.Tax{
		ReferenceNumber: "26271", YOM: on.Year() - age, FuelType: fuel, EngineCapacity: band, CIFInUSD: b.CIF,
		ImportDutyInUSD: print2(b.ImportDuty), ExiseDutyInUSD: print2(b.Excise), ExiseDutyDueToAgeInUSD: print2(b.AgeExcise),
		VATInUSD: print2(b.VAT), CustomProcessingFeeInUSD: print2(b.ProcessingFee), RailwayDevLevyInUSD: print2(b.RailwayLevy),
		IndDevLevy: print2(b.IndustrialLevy), HIVRespLevy: b.HIVLevy, TotalImportTaxesInUSD: print2(b.TotalUSD),
		TotalImportTaxesInTZS: print2(b.TotalTZS), VehicleRegistrationFeeInTZS: b.Registration,
		TotalTaxesInTZS: print2(b.GrandTotalTZS),
	}
}

// Which of the two sets of July 2026 the authority goes by: this settles what
// no source does.
func TestAnswersTellWhichRulesHold(t *testing.T) {
	on := day("2026-11-21")
	before, after := duty.On(day("2026-06-30")), duty.On(on)
	statute := before
	statute.AgeExcise = []duty.AgeBand{{Rate: dec("0.15")}}
	for name, c := range map[string]struct {
		rules          duty.Rules
		age, cc        int
		fuel           string
		band           string
		agrees         string
		differs        string
		discriminating bool
	}{
		"a car of nine by the new rules":       {after, 9, 1500, "PETROL", "1001 - 1500 CC", "2026-07-01", "", true},
		"the same by the old":                  {before, 9, 1500, "PETROL", "1001 - 1500 CC", "2025-07-01", "exiseDutyDueToAgeInUSD customProcessingFeeInUSD vatInUSD totalImportTaxesInUSD totalImportTaxesInTZS totalTaxesInTZS", true},
		"of ten by the old, as practised":      {before, 10, 1500, "PETROL", "1001 - 1500 CC", "2025-07-01", "exiseDutyDueToAgeInUSD customProcessingFeeInUSD vatInUSD totalImportTaxesInUSD totalImportTaxesInTZS totalTaxesInTZS", true},
		"of ten by the statute":                {statute, 10, 1500, "PETROL", "1001 - 1500 CC", "2025-07-01", "exiseDutyDueToAgeInUSD customProcessingFeeInUSD vatInUSD totalImportTaxesInUSD totalImportTaxesInTZS totalTaxesInTZS", true},
		"a band that holds two levies":         {after, 3, 1400, "PETROL", "1001 - 2000 CC", "2026-07-01", "", true},
		"a small engine":                       {after, 3, 660, "PETROL", "0 - 1000 CC", "2026-07-01", "", true},
		"the largest":                          {after, 3, 4461, "DIESEL", "ABOVE 4000 CC", "2026-07-01", "", true},
		"an electric car, which has no engine": {after, 12, 0, "ELECTRIC", "0 - 0 CC", "2026-07-01", "", true},
		"unknown rules: 20 % on nine":          {aged(before, "0.20"), 9, 1500, "PETROL", "1001 - 1500 CC", "", "exiseDutyDueToAgeInUSD customProcessingFeeInUSD vatInUSD totalImportTaxesInUSD totalImportTaxesInTZS totalTaxesInTZS", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := drift.Check(answer(c.rules, c.age, c.cc, c.fuel, c.band, on), on)
			var lines []string
			for _, d := range v.Differences {
				lines = append(lines, d.Line)
			}
			if !v.Judged || strings.Join(v.AgreesWith, " ") != c.agrees || strings.Join(lines, " ") != c.differs || v.Discriminating != c.discriminating {
				t.Errorf("%+v", v)
			}
		})
	}
}

func aged(rules duty.Rules, rate string) duty.Rules {
	rules.AgeExcise = []duty.AgeBand{{Rate: dec(rate)}}
	return rules
}

func TestTheStateOfTheRules(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		now := day("2026-11-21")
		counts := metrics.New(metrics.Options{})
		registry := counts.Registry()
		var log bytes.Buffer
		d := drift.New(drift.Options{
			Redis: conn.Client(), Log: slog.New(slog.NewTextHandler(&log, nil)), Metrics: counts, Now: func() time.Time { return now },
		})
		store := drift.NewStore(conn.Client())
		state := func() string {
			t.Helper()
			s, err := store.State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			agree, since := "unknown", ""
			if s.RulesAgree != nil {
				agree = strconv.FormatBool(*s.RulesAgree)
			}
			if s.Since != nil {
				since = s.Since.In(localtime.Zone).Format(time.DateOnly)
			}
			return fmt.Sprintf("%s %s %v %d/%d", agree, since, s.AgreesWith, s.Differed, s.Checked)
		}
		expect := func(want string) {
			t.Helper()
			if got := state(); got != want {
				t.Errorf("state %q, want %q", got, want)
			}
		}
		tell := func(rules duty.Rules, body string) {
			tax := answer(rules, 9, 1500, "PETROL", "1001 - 1500 CC", now)
			tax.BodyType = body
			d.OnAnswer(t.Context(), map[string]string{"make": "TOYOTA"}, tax)
		}
		before, after := duty.On(day("2026-06-30")), duty.On(now)

		expect("unknown  [] 0/0")
		tell(after, "SEDAN")
		expect("true 2026-11-21 [2026-07-01] 0/1")
		now = day("2026-11-22")
		tell(before, "SEDAN")
		expect("false 2026-11-22 [2025-07-01] 1/2")
		now = day("2026-11-28")
		tell(after, "SEDAN") // six days are too few
		expect("false 2026-11-22 [2026-07-01] 1/3")
		tell(before, "TRUCK") // not judged
		expect("false 2026-11-22 [2026-07-01] 1/3")
		now = day("2026-11-29")
		tell(after, "SEDAN")
		expect("true 2026-11-29 [2026-07-01] 1/4")
		tell(aged(before, "0.20"), "SEDAN")
		expect("false 2026-11-29 [] 2/5")

		// Other rules are in force: what was found before is no news.
		now = day("2026-03-01")
		tell(before, "SEDAN")
		expect("true 2026-03-01 [2025-07-01] 0/1")
		samples, err := store.Samples(t.Context())
		if err != nil || len(samples) != 2 || samples[1].AgreesWith[0] != "2025-07-01" || len(samples[0].AgreesWith) != 0 ||
			string(samples[0].Request) != `{"make":"TOYOTA"}` || samples[0].Response.ReferenceNumber != "26271" {
			t.Errorf("%+v, %v", samples, err)
		}
		if !strings.Contains(log.String(), "differs from the rules in force") {
			t.Errorf("log: %s", log.String())
		}
		want := map[string]float64{
			"no 2024-07-01": 1, "no 2025-07-01": 4, "no 2026-07-01": 2, "unjudged 2026-07-01": 1, "yes 2025-07-01": 2, "yes 2026-07-01": 3,
			"exiseDutyDueToAgeInUSD": 2, "customProcessingFeeInUSD": 2, "vatInUSD": 2, "totalImportTaxesInUSD": 2,
			"totalImportTaxesInTZS": 2, "totalTaxesInTZS": 2,
		}
		if got := counters(t, registry); !maps.Equal(got, want) {
			t.Errorf("counted %v, want %v", got, want)
		}
	})
}

// counters are the values of the counters of the rules by their labels.
func counters(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "ushuru_authority_rules_") {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			if value := metric.GetCounter().GetValue(); value > 0 { // all begin with 0
				values[strings.Join(labels, " ")] = value
			}
		}
	}
	return values
}

func TestAHundredSamplesAreKept(t *testing.T) {
	conn := redistest.Embedded(t)
	now := day("2026-11-21")
	d := drift.New(drift.Options{
		Redis: conn.Client(), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
	})
	for n := range 105 {
		tax := answer(duty.On(day("2026-06-30")), 9, 1500, "PETROL", "1001 - 1500 CC", now)
		tax.ReferenceNumber = strconv.Itoa(n)
		d.OnAnswer(t.Context(), n, tax)
	}
	samples, err := drift.NewStore(conn.Client()).Samples(t.Context())
	if err != nil || len(samples) != 100 || samples[0].Response.ReferenceNumber != "104" || samples[99].Response.ReferenceNumber != "5" {
		t.Errorf("%d samples, %v", len(samples), err)
	}
}
