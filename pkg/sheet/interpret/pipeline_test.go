package interpret_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/chassis"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/sheettest"
	"ushuru/pkg/testenv"

	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/sheet/transcribe"
)

// pipeline loads and reads pictures as a worker does, with a model that reads
// SIMULATED sheets.
type pipeline struct {
	loader *scan.Loader
	ai     *ai.Client
	model  *aitest.Server
}

func newPipeline(t *testing.T) *pipeline {
	t.Helper()
	model := aitest.Start(t, aitest.Options{})
	client, err := ai.New(ai.Options{
		Endpoints: []ai.Endpoint{{BaseURL: model.URL, Key: "k", Model: "m"}}, Timeout: 2 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := os.UserCacheDir() // as the tests of scan; none: a PDF takes longer
	loader, err := scan.NewLoader(scan.Options{CacheDir: filepath.Join(dir, "ushuru", "pdf"), Timeout: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loader.Close() })
	return &pipeline{loader, client, model}
}

var now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// years knows when one old code was built.
func years(code chassis.Code) (from, to int) {
	if code.Code == "BNR32" {
		return 1989, 1994
	}
	return 0, 0
}

// special returns a special sheet.
func special(t *testing.T, name string) sheettest.Sheet {
	t.Helper()
	s, found := sheettest.Special(name)
	if !found {
		t.Fatalf("no sheet %s", name)
	}
	return s
}

// draw draws a sheet, or skips the test where there are no fonts.
func draw(t *testing.T, s *sheettest.Sheet) []byte {
	t.Helper()
	picture, err := s.Picture()
	if errors.Is(err, sheettest.ErrNoFonts) {
		testenv.Missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// load makes pictures of a file.
func (p *pipeline) load(t *testing.T, file []byte) [][]byte {
	t.Helper()
	loaded, err := p.loader.Load(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return loaded.JPEGs()
}

// read takes a file through the pipeline.
func (p *pipeline) read(t *testing.T, file []byte) (*sheet.Report, error) {
	t.Helper()
	return p.readImages(t, p.load(t, file))
}

// readImages has the pages of a sheet read.
func (p *pipeline) readImages(t *testing.T, images [][]byte) (*sheet.Report, error) {
	t.Helper()
	transcript, err := transcribe.Sheet(t.Context(), p.ai, images)
	if err != nil {
		return nil, err
	}
	return interpret.Transcript(*transcript, interpret.Known{Years: years, Now: now}), nil
}

// tally counts fields over sheets.
type tally struct{ exact, blank, wrong, missing int }

// compare counts what a report has of the truth. Wrong weighs more than
// missing: a value where there is none is wrong.
func compare(t *testing.T, id string, want, got map[string]string, counts map[string]*tally) {
	t.Helper()
	for field, wanted := range want {
		if counts[field] == nil {
			counts[field] = &tally{}
		}
		switch got[field] {
		case wanted:
			if wanted == "" {
				counts[field].blank++
			} else {
				counts[field].exact++
			}
		case "":
			counts[field].missing++
			t.Errorf("%s: %s is missing, want %q", id, field, wanted)
		default:
			counts[field].wrong++
			t.Errorf("%s: %s is %q, want %q", id, field, got[field], wanted)
		}
	}
}

// TestTheSyntheticSheets is the measure of what the pipeline itself does wrong:
// the model sees what the loader made of the picture, and tells it truly.
func TestTheSyntheticSheets(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	counts := map[string]*tally{}
	var list []sheettest.Sheet
	for _, name := range []string{"no-era", "miles", "void", "injection", "covered"} {
		list = append(list, special(t, name))
	}
	for seed := 1; seed <= sheettest.Number; seed += testenv.Pick(1, 14) {
		list = append(list, sheettest.Make(seed))
	}
	for _, s := range list {
		report, err := p.read(t, draw(t, &s))
		if err != nil {
			t.Errorf("%s (%s, %s): %v", s.ID, s.Form, s.Trap, err)
			continue
		}
		compare(t, s.ID+" "+s.Trap, truth(&s), values(report), counts)
	}
	total := tally{}
	for _, field := range slices.Sorted(maps.Keys(counts)) {
		c := counts[field]
		t.Logf("%-28s exact %2d  rightly null %2d  wrong %d  missing %d", field, c.exact, c.blank, c.wrong, c.missing)
		total.exact, total.blank, total.wrong, total.missing = total.exact+c.exact, total.blank+c.blank, total.wrong+c.wrong, total.missing+c.missing
	}
	t.Logf("%d sheets: exact %d, rightly null %d, wrong %d, missing %d", len(list), total.exact, total.blank, total.wrong, total.missing)
}

// truth is what a report must say of a sheet, as texts; "" for null.
func truth(s *sheettest.Sheet) map[string]string {
	seen := s.Seen()
	m, f := seen.Meaning, seen.Fields
	want := map[string]string{
		"house.name": map[string]string{"IAA": "IAA Osaka"}[seen.House], "house.corner": f["corner"], "lot": f["lot"],
		"auction_date": isoDay(f["date"]), "vehicle.name_jp": f["name"], "vehicle.trim": f["trim"],
		"vehicle.emission_prefix": m.Prefix, "vehicle.chassis_code": m.Chassis, "vehicle.chassis_no_masked": mask(f["chassis_no"]),
		"vehicle.cc": number(m.CC), "vehicle.fuel_printed": m.FuelPrinted, "vehicle.fuel_derived": m.FuelDerived,
		"vehicle.shift_raw": f["shift"], "vehicle.seats": f["seats"], "vehicle.colour_jp": f["colour"], "vehicle.colour_no": f["colour_no"],
		"vehicle.colour_changed": strconv.FormatBool(m.ColourChanged), "vehicle.interior_colour": f["interior_colour"],
		"vehicle.steering":       map[string]string{"左": "left", "右": "right"}[f["steering"]],
		"vehicle.import_channel": map[string]string{"並行": "parallel"}[f["import_channel"]], "vehicle.model_year": f["model_year"],
		"vehicle.use_history": map[string]string{"レンタ": "rental"}[f["use"]], "vehicle.dims_cm": f["size"], "vehicle.load": f["load"],
		"vehicle.doors_shape": f["shape"], "vehicle.air_conditioning": f["aircon"],
		"dates.first_registration": m.FirstRegistration, "dates.shaken_until": m.ShakenUntil, "dates.name_change_deadline": f["name_change"],
		"mileage.raw_digits": seen.Digits, "mileage.value": "", "mileage.flag": "none",
		"mileage.unit": map[string]string{"km": "km", "マイル": "mile", "": "km"}[seen.Unit], "mileage.scale_inferred": strconv.FormatBool(m.ScaleInferred),
		"grades.overall": f["overall"], "grades.exterior": f["exterior"], "grades.interior": f["interior"],
		"repair_history": m.Repair, "equipment": strings.Join(seen.Circled, " "),
		"seller_points": strings.Join(seen.Points, " "), "seller_notes": strings.Join(seen.Seller, " "),
		"inspector_notes": strings.Join(seen.Inspector, " "), "office_notes": strings.Join(seen.Office, " "),
		"glass": strings.Join(seen.Glass, " "), "inside": strings.Join(seen.Inside, " "),
		"documents.service_book": seen.Documents["新車整備手帳"], "documents.manual": seen.Documents["取扱説明書"],
		"documents.warranty": seen.Documents["保証書"], "documents.recycle_yen": f["recycle"], "tyres": strings.Join(seen.Tyres, ","),
	}
	if want["house.name"] == "" {
		want["house.name"] = seen.House
	}
	if seen.Digits != "" {
		want["mileage.value"] = strconv.Itoa(m.Mileage)
	}
	if flag := map[string]string{"$": "replaced", "*": "tampered", "#": "unknown"}[seen.Flag]; flag != "" {
		want["mileage.flag"] = flag
	}
	if strings.HasPrefix(f["overall"], "R") { // R and its kin are a repair history
		want["repair_history"] = "yes"
	}
	var marks []string
	for _, mark := range seen.Marks {
		marks = append(marks, strings.TrimSpace(mark.Panel+" "+mark.Side)+" "+mark.Code)
	}
	want["body_map"] = strings.Join(marks, ", ")
	return want
}

// values are those of a report, as truth has them.
func values(r *sheet.Report) map[string]string {
	v := r.Vehicle
	got := map[string]string{
		"house.name": text(r.House.Name), "house.corner": text(r.House.Corner), "lot": text(r.Lot), "auction_date": text(r.AuctionDate),
		"vehicle.name_jp": text(v.NameJP), "vehicle.trim": text(v.Trim), "vehicle.emission_prefix": text(v.EmissionPrefix),
		"vehicle.chassis_code": text(v.ChassisCode), "vehicle.chassis_no_masked": text(v.ChassisNoMasked), "vehicle.cc": text(v.CC),
		"vehicle.fuel_printed": text(v.FuelPrinted), "vehicle.fuel_derived": text(v.FuelDerived), "vehicle.shift_raw": text(v.ShiftRaw),
		"vehicle.seats": text(v.Seats), "vehicle.colour_jp": text(v.ColourJP), "vehicle.colour_no": text(v.ColourNo),
		"vehicle.colour_changed": strconv.FormatBool(v.ColourChanged), "vehicle.interior_colour": text(v.InteriorColour),
		"vehicle.steering": text(v.Steering), "vehicle.import_channel": text(v.ImportChannel), "vehicle.model_year": text(v.ModelYear),
		"vehicle.use_history": text(v.UseHistory), "vehicle.dims_cm": text(v.DimsCM), "vehicle.load": text(v.Load),
		"vehicle.doors_shape": text(v.DoorsShape), "vehicle.air_conditioning": text(v.AirCon),
		"dates.first_registration": text(r.Dates.FirstRegistration), "dates.shaken_until": text(r.Dates.ShakenUntil),
		"dates.name_change_deadline": text(r.Dates.NameChangeDeadline),
		"mileage.raw_digits":         text(r.Mileage.RawDigits), "mileage.value": text(r.Mileage.Value), "mileage.unit": text(r.Mileage.Unit),
		"mileage.flag": text(r.Mileage.Flag), "mileage.scale_inferred": strconv.FormatBool(r.Mileage.ScaleInferred),
		"grades.overall": text(r.Grades.OverallRaw), "grades.exterior": text(r.Grades.Exterior), "grades.interior": text(r.Grades.Interior),
		"repair_history": string(r.RepairHistory.Status),
		"seller_points":  notes(r.SellerPoints), "seller_notes": notes(r.SellerNotes),
		"inspector_notes": notes(r.InspectorNotes), "office_notes": notes(r.OfficeNotes),
		"equipment": Findings(r.Equipment.FactoryCircled), "glass": Findings(r.Glass), "inside": Findings(r.Inside),
		"documents.service_book": yesNo(r.Documents.ServiceBook), "documents.manual": yesNo(r.Documents.Manual),
		"documents.warranty": yesNo(r.Documents.Warranty), "documents.recycle_yen": text(r.Documents.RecycleYen),
	}
	treads := []string{text(r.TyresMM.FrontLeft), text(r.TyresMM.FrontRight), text(r.TyresMM.RearLeft), text(r.TyresMM.RearRight), text(r.TyresMM.Spare)}
	if got["tyres"] = strings.Join(treads, ","); got["tyres"] == ",,,," {
		got["tyres"] = ""
	}
	var marks []string
	for _, mark := range r.BodyMap {
		marks = append(marks, strings.TrimSpace(mark.Panel+" "+text(mark.Side))+" "+mark.CodeRaw)
	}
	got["body_map"] = strings.Join(marks, ", ")
	return got
}

func text[T any](value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(*value)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func yesNo(value *bool) string {
	if value == nil {
		return ""
	}
	return map[bool]string{true: "有", false: "無"}[*value]
}

func notes(list []sheet.Note) string {
	texts := make([]string, len(list))
	for i, note := range list {
		texts[i] = note.JP
	}
	return strings.Join(texts, " ")
}

func Findings(list []sheet.Finding) string {
	texts := make([]string, len(list))
	for i, finding := range list {
		texts[i] = finding.JP
	}
	return strings.Join(texts, " ")
}

// isoDay writes 2026/8/3 as 2026-08-03.
func isoDay(day string) string {
	if t, err := time.Parse("2006/1/2", day); err == nil {
		return t.Format(time.DateOnly)
	}
	return ""
}

// mask hides all but two digits of a chassis number; a word is none.
func mask(number string) string {
	code, serial, found := strings.Cut(number, "-")
	if !found {
		return ""
	}
	return code + "-" + serial[:2] + strings.Repeat("*", len(serial)-2)
}
