package bill_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/bill"
	"ushuru/pkg/cost"
)

// paidBills are bills on which the plates cost a third more than our likely figure, with a
// spread of a tenth, the handling what we say, and one charge that stands on two alone.
func paidBills() (jsonLines, csv string) {
	var lines, rows strings.Builder
	rows.WriteString("bill,date,name,amount,currency,m3,fobPriceUSD,locatedIn,rate\n")
	for i := range 40 {
		plate, month := 48_000+i*260, 1+i%10
		date := fmt.Sprintf("2026-%02d-15", month)
		bills := [][3]string{{"Number plate", strconv.Itoa(plate), "TZS"}, {"Shore handling", "99.12", "USD"}}
		if i < 2 {
			bills = append(bills, [3]string{"D/O fee", "70", "USD"})
		}
		fmt.Fprintf(&lines, `{"date":%q,"locatedIn":"Japan","rate":2600,"car":{"fobPriceUSD":4000,"m3":12},"lines":[`, date)
		for j, b := range bills {
			if j > 0 {
				lines.WriteString(",")
			}
			fmt.Fprintf(&lines, `{"name":%q,"amount":%q,"currency":%q}`, b[0], b[1], b[2])
			fmt.Fprintf(&rows, "%d,%s,%s,%s,%s,12,4000,Japan,2600\n", i, date, b[0], b[1], b[2])
		}
		lines.WriteString("]}\n")
	}
	return lines.String(), rows.String()
}

// Paid bills say how far our figures are off, and the file that they give holds nine in ten
// of them; a charge of few bills stays as it is.
func TestCalibrateOnPaidBills(t *testing.T) {
	t.Parallel()
	jsonLines, csv := paidBills()
	for form, text := range map[string]string{"JSON": jsonLines, "CSV": csv} {
		paid, err := bill.ReadPaid(strings.NewReader(text))
		if err != nil || len(paid) != 40 {
			t.Fatalf("%s: got %d bills and %v, want 40", form, len(paid), err)
		}
		before, override, err := bill.Calibrate(cost.Embedded(), paid)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bill.Calibrated{}
		for _, c := range before {
			got[c.Code] = c
		}
		if c := got["plate"]; c.Bills != 40 || c.Bias != "32.4" || c.Inside != "0" || !c.Enough {
			t.Errorf("%s: got %+v, want 40 bills that are 32.4 %% above and none inside", form, c)
		}
		if c := got["handling"]; c.Bills != 40 || c.Bias != "0" || c.Inside != "100" {
			t.Errorf("%s: got %+v, want 40 bills as we say", form, c)
		}
		if c := got["delivery_order"]; c.Bills != 2 || c.Enough || strings.Contains(string(override), "delivery_order") {
			t.Errorf("%s: got %+v, want two bills that change nothing", form, c)
		}
		tables, err := cost.Parse(override)
		if err != nil {
			t.Fatalf("%s: the file is refused: %v\n%s", form, err, override)
		}
		after, _, err := bill.Calibrate(tables, paid)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range after {
			inside, err := strconv.Atoi(c.Inside)
			if c.Code == "plate" && (c.Bias != "0" || err != nil || inside < 90) {
				t.Errorf("%s: with the file got %+v, want no bias and at least 90 %% inside", form, c)
			}
		}
	}
}

func TestBillsThatCannotBeCalibratedOn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"date":"2026","car":{},"lines":[{"name":"Plate","amount":1}]}`:            "the date",
		`{"date":"2026-01-01","car":{},"lines":[{"name":"Plate","amount":"soon"}]}`: "no line has an amount",
		`{"date":"2026-01-01","cars":{}}`:                                           "unknown field",
		"date,name,amount\n2026-01-01,Plate,40000\n":                                "the column bill is missing",
		"bill,date,name,amount,m3\n1,2026-01-01,Plate,40000,large\n":                "is no number",
	} {
		paid, err := bill.ReadPaid(strings.NewReader(text))
		if err == nil {
			_, _, err = bill.Calibrate(cost.Embedded(), paid)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
}
