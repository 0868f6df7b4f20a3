package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"

	"ushuru/pkg/batch"
	"ushuru/pkg/export"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// lines are one listing of each kind.
func lines(t *testing.T) []export.Line {
	t.Helper()
	data, err := os.ReadFile("../../api/testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	usd := func(text string) money.Amount { return money.New(decimal.RequireFromString(text)) }
	e.DriveAway = &vehicle.DriveAway{
		TotalUSD: usd("12345.67"), TotalTZS: usd("32716025.50"), LowUSD: usd("12000"), HighUSD: usd("13000"),
		LowTZS: usd("31800000"), HighTZS: usd("34450000"),
		Lines: []vehicle.CostLine{
			{Code: "car_price", AmountTZS: usd("16377000.01")},
			{Code: "import_taxes", AmountTZS: usd("15000000.24"), Estimated: true},
			{Code: "registration", AmountTZS: usd("450000.15")},
			{Code: "wharfage", AmountTZS: usd("889025.10"), Estimated: true},
		},
	}
	e.Summary = &vehicle.Summary{Confidence: vehicle.Medium}
	return []export.Line{
		{Number: 1, Reference: "LOT 1", URL: "https://cars.example/1", State: batch.Succeeded, Estimate: &e, Basis: "start", Own: []string{"=1+1", "4.5", "2026-11-26", "new"}},
		{
			Number: 2, Reference: `a "b", c`, URL: "https://cars.example/2", State: batch.Failed, Code: "no_match", Reason: "None fits.",
			Car: &vehicle.Car{Make: "NISSAN", Year: 2012},
		},
		{Number: 3, Reference: `=HYPERLINK("http://x","y")`, URL: "https://cars.example/3", State: batch.Waiting},
		{Number: 4, Reference: " \t+1", URL: "-2+3", State: batch.Rejected, Code: "url_invalid", Reason: "@x\x00\r\n"},
	}
}

func write(t *testing.T, begin func(io.Writer, export.Options) (export.Writer, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	table, err := begin(&out, export.Options{Lang: "en", Columns: []string{"Remarks", "Score", "=Day", "State"}, Lines: costLines})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines(t) {
		if err := table.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// costLines are some lines that a cost can have.
var costLines = []export.CostLine{
	{Code: "car_price"}, {Code: "freight"}, {Code: "import_taxes", Tax: true}, {Code: "registration", Tax: true}, {Code: "wharfage"},
}

// A cost that lacks the price of the car is a part: it stands in no column of whole costs, and
// in no total of them.
func TestACostWithoutThePriceIsAPart(t *testing.T) {
	t.Parallel()
	line := lines(t)[0]
	line.Estimate.DriveAway.Missing = []vehicle.Missing{{Code: "car_price"}}
	var out bytes.Buffer
	table, err := export.NewCSV(&out, export.Options{Lines: costLines})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(table.Line(line), table.Close()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"driveAwayTZS": "", "driveAwayUSD": "", "driveAwayLowTZS": "", "driveAwayPartTZS": "32716025.5", "driveAwayMissing": "car_price",
		"taxesToExpectTZS": "15450000.39", "exchangeRateTaxes": "0",
	} {
		if got := rows[1][slices.Index(rows[0], name)]; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// check looks at a table as rows of text, money without separators.
func check(t *testing.T, rows [][]string) {
	t.Helper()
	if len(rows) > 5 && rows[5][0] == "Total" {
		rows = rows[:5]
	}
	if len(rows) != 5 {
		t.Fatalf("%d rows: %q", len(rows), rows)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	for _, want := range []struct {
		row          int
		column, text string
	}{
		{1, "row", "1"},
		{1, "reference", "LOT 1"},
		{1, "reason", ""},
		{1, "model", "COROLLA FIELDER"},
		{1, "year", "2016"},
		{1, "fobPriceUSD", "6180"},
		{1, "cfPriceUSD", ""},
		{1, "modelBody", "COROLLA FIELDER - NKE165 - STATION WAGON"},
		{1, "adjusted", "yom fuelType"},
		{1, "totalTaxesInTZS", "13807283.34"},
		{1, "driveAwayUSD", "12345.67"},
		{1, "driveAwayTZS", "32716025.5"},
		{1, "cifInUSD", "4512.35"},
		{1, "totalImportTaxesInUSD", "5002.75"},
		{1, "totalImportTaxesInTZS", "13257283.34"},
		{1, "vehicleRegistrationFeeInTZS", "450000"},
		{1, "driveAwayLowUSD", "12000"},
		{1, "driveAwayHighUSD", "13000"},
		{1, "driveAwayLowTZS", "31800000"},
		{1, "driveAwayHighTZS", "34450000"},
		{1, "yom", "2015"},
		{1, "engine_cc", "1500"},
		{1, "make", "TOYOTA"},
		{1, "modelCode", "NKE165"},
		{1, "version", "HYBRID G"},
		{1, "fuel", "HYBRID"},
		{1, "matchType", "exact_code"},
		{1, "confidence", "low"},
		{1, "driveAwayMissing", ""},
		{1, "driveAwayPartTZS", ""},
		{1, "car_price", "16377000.01"},
		{1, "freight", ""},
		{1, "wharfage", "889025.1"},
		{1, "taxesToExpectTZS", "15450000.39"},
		{1, "driveAwayEstimated", "import_taxes wharfage"},
		{1, "driveAwayConfidence", "medium"},
		{1, "ushuru_state", "succeeded"},
		{1, "State", "new"},
		{2, "make", "NISSAN"},
		{2, "year", "2012"},
		{1, "referenceNumber", "SIM-25264000001"},
		{2, "reference", `a "b", c`},
		{2, "code", "no_match"},
		{2, "reason", "None fits."},
		{2, "driveAwayUSD", ""},
		{3, "ushuru_state", "waiting"},
		{3, "reference", `'=HYPERLINK("http://x","y")`},
		{4, "reference", "'  +1"},
		{4, "url", "'-2+3"},
		{4, "reason", "'@x  "},
	} {
		row := rows[want.row]
		got := ""
		if i := at[want.column]; i < len(row) {
			got = row[i]
		}
		if got != want.text {
			t.Errorf("row %d, %s: %q, want %q", want.row, want.column, got, want.text)
		}
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	data := write(t, export.NewCSV)
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	check(t, rows)
	if !strings.HasPrefix(string(data), "row,reference,url,") || !strings.Contains(string(data), "\r\n2,") {
		t.Errorf("%.200q", data)
	}
}

func TestXLSX(t *testing.T) {
	t.Parallel()
	book, err := excelize.OpenReader(bytes.NewReader(write(t, export.NewXLSX)))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	rows, err := book.GetRows("Cars", excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	check(t, rows)
	for _, cell := range []string{"B4", "B5", "C5", "F5"} {
		formula, err := book.GetCellFormula("Cars", cell)
		kind, kindErr := book.GetCellType("Cars", cell)
		if err != nil || kindErr != nil || formula != "" || kind != excelize.CellTypeInlineString {
			t.Errorf("%s: formula %q, type %d, %v %v", cell, formula, kind, err, kindErr)
		}
	}
	if shown, err := book.GetCellValue("Cars", amountCell(t, rows[0])); err != nil || shown != "12,345.67" {
		t.Errorf("an amount is shown as %q, %v", shown, err)
	}
}

// amountCell is the first cell of driveAwayUSD.
func amountCell(t *testing.T, header []string) string {
	t.Helper()
	cell, err := excelize.CoordinatesToCellName(slices.Index(header, "driveAwayUSD")+1, 2)
	if err != nil {
		t.Fatal(err)
	}
	return cell
}

// A workbook has dates and numbers, totals of what a filter shows, notes and a picture.
func TestWorkbookForAnAccountant(t *testing.T) {
	t.Parallel()
	book, err := excelize.OpenReader(bytes.NewReader(write(t, export.NewXLSX)))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	raw := excelize.Options{RawCellValue: true}
	rows, err := book.GetRows("Cars", raw)
	if err != nil || len(rows) != 6 {
		t.Fatal(rows, err)
	}
	at := func(row int, name string) string {
		if i := slices.Index(rows[0], name); i >= 0 && i < len(rows[row]) {
			return rows[row][i]
		}
		t.Errorf("no %s in row %d", name, row)
		return ""
	}
	for _, name := range []string{
		"importDutyInUSD", "exiseDutyInUSD", "exiseDutyDueToAgeInUSD", "vatInUSD", "customProcessingFeeInUSD", "railwayDevLevyInUSD",
		"indDevLevy", "hivRespLevy", "exchangeRateTaxes", "exchangeRateOthers", "validUntil", "matchReason", "onTheRoadTZS", "onTheRoadLowTZS",
		"onTheRoadHighTZS", "maxPriceUSD", "marginUSD", "priceBasis", "Remarks", "Score", "'=Day",
	} {
		if !slices.Contains(rows[0], name) {
			t.Errorf("no column %s", name)
		}
	}
	if at(1, "Remarks") != "'=1+1" || at(1, "Score") != "4.5" || !strings.HasPrefix(at(1, "'=Day"), "46352") || at(1, "priceBasis") != "start" {
		t.Errorf("own columns: %q", rows[1])
	}
	if serial := at(1, "asOf"); !regexp.MustCompile(`^4\d{4}\.\d+$`).MatchString(serial) {
		t.Errorf("asOf is %q", serial)
	}
	if rows[5][0] != "Total" || at(5, "driveAwayUSD") != "12345.67" || at(5, "vatInUSD") != at(1, "vatInUSD") {
		t.Errorf("totals: %q", rows[5])
	}
	if formula, err := book.GetCellFormula("Cars", strings.Replace(amountCell(t, rows[0]), "2", "6", 1)); err != nil || !strings.HasPrefix(formula, "SUBTOTAL(109,") {
		t.Errorf("%q, %v", formula, err)
	}
	lines, err := book.GetRows("Lines", raw)
	if err != nil || len(lines) != 5 || lines[0][6] != "amountTZS" {
		t.Fatalf("lines: %q, %v", lines, err)
	}
	sum := decimal.Zero
	for _, line := range lines[1:] {
		if line[0] != "1" || line[1] != "LOT 1" {
			t.Errorf("a line of row 1 begins with %q", line[:2])
		}
		sum = sum.Add(decimal.RequireFromString(line[6]))
	}
	if sum.String() != at(1, "driveAwayTZS") {
		t.Errorf("the lines add up to %s, want %s", sum, at(1, "driveAwayTZS"))
	}
	notes, err := book.GetRows("Notes")
	if err != nil || len(notes) < 10 || notes[0][0] != "Assumptions and sources" {
		t.Errorf("%q, %v", notes, err)
	}
	picture, err := book.GetRows("Picture")
	if err != nil || len(picture) < 1 || picture[0][4] != "On the road (TZS)" {
		t.Errorf("%q, %v", picture, err)
	}
	if panes, err := book.GetPanes("Cars"); err != nil || !panes.Freeze || panes.YSplit != 1 {
		t.Errorf("%+v, %v", panes, err)
	}
}

// The columns of the likely landing day have the taxes that were computed for it, and those of
// TRA's answer where none were.
func TestTaxesAtLandingStandLineByLine(t *testing.T) {
	t.Parallel()
	usd := func(text string) money.Amount { return money.New(decimal.RequireFromString(text)) }
	plain := vehicle.Estimate{
		Tax:       vehicle.Tax{CIFInUSD: usd("4000"), ImportDutyInUSD: usd("1000"), TotalImportTaxesInUSD: usd("1600")},
		DriveAway: &vehicle.DriveAway{Landing: vehicle.Landing{Likely: "2027-02-01"}},
	}
	drive := *plain.DriveAway
	drive.TaxBase = vehicle.TaxBase{CIFInUSD: usd("5000"), Recomputed: &vehicle.Recomputed{
		ImportDutyInUSD: usd("1250"), ExciseDutyDueToAgeInUSD: usd("900"), TotalImportTaxesInUSD: usd("2900"),
	}}
	later := plain
	later.DriveAway = &drive
	var out bytes.Buffer
	table, err := export.NewCSV(&out, export.Options{Lang: "en"})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range []*vehicle.Estimate{&plain, &later} {
		if err := table.Line(export.Line{Number: i + 1, State: batch.Succeeded, Estimate: e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"landing": {"2027-02-01", "2027-02-01"}, "landingCifInUSD": {"4000", "5000"}, "landingImportDutyInUSD": {"1000", "1250"},
		"landingExciseDutyDueToAgeInUSD": {"0", "900"}, "landingTotalImportTaxesInUSD": {"1600", "2900"},
	} {
		at := slices.Index(rows[0], name)
		if at < 0 {
			t.Errorf("there is no column %s", name)
			continue
		}
		if got := [2]string{rows[1][at], rows[2][at]}; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// The notes name each source once, although every answer of the authority has a reference
// of its own.
func TestNotesNameASourceOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	table, err := export.NewXLSX(&out, export.Options{Lang: "en"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		e := vehicle.Estimate{DriveAway: &vehicle.DriveAway{}}
		e.Tax.ReferenceNumber = fmt.Sprint("SIM-", 1000+i)
		e.DriveAway.Lines = []vehicle.CostLine{{Source: "TRA calculator, reference " + e.Tax.ReferenceNumber}}
		if i == 299 {
			e.DriveAway.Lines = append(e.DriveAway.Lines, vehicle.CostLine{Source: "a tariff"})
		}
		if err := table.Line(export.Line{Number: i + 1, Estimate: &e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	rows, err := book.GetRows("Notes")
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, row := range rows {
		if strings.HasPrefix(row[0], "Source") {
			sources = append(sources, row[1])
		}
	}
	if got := strings.Join(sources, "; "); got != "TRA calculator, reference …; a tariff" {
		t.Error(got)
	}
}

func TestCSVWithAMark(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if _, err := export.NewCSV(&out, export.Options{BOM: true}); err != nil || !strings.HasPrefix(out.String(), "\ufeff") {
		t.Errorf("%.20q, %v", out.String(), err)
	}
}
