package tra

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

func TestListsAreReadInEveryForm(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string
		fail bool
	}{
		"a list":                     {body: `[{"fuelType":"PETROL"},{"fuelType":"DIESEL"}]`, want: []string{"PETROL", "DIESEL"}},
		"one object":                 {body: `{"fuelType":"PETROL"}`, want: []string{"PETROL"}},
		"unknown fields":             {body: `[{"fuelType":"PETROL","id":{"a":[1]},"x":null}]`, want: []string{"PETROL"}},
		"repetitions":                {body: `[{"fuelType":"PETROL"},{"fuelType":"PETROL"}]`, want: []string{"PETROL"}},
		"blank items among others":   {body: `[{"fuelType":null},{"fuelType":"-"},{},null,{"fuelType":"PETROL"}]`, want: []string{"PETROL"}},
		"spaces are kept":            {body: `[{"fuelType":" PETROL  "}]`, want: []string{" PETROL  "}},
		"byte order mark":            {body: "\xef\xbb\xbf" + `[{"fuelType":"PETROL"}]`, want: []string{"PETROL"}},
		"empty list":                 {body: `[]`, want: []string{}},
		"null":                       {body: ` null `, want: []string{}},
		"empty text":                 {body: `""`, want: []string{}},
		"empty object":               {body: `{}`, want: []string{}},
		"a renamed field":            {body: `[{"fuel":"PETROL"}]`, fail: true},
		"a list of texts":            {body: `["PETROL"]`, fail: true},
		"an object in the field":     {body: `[{"fuelType":{"name":"PETROL"}}]`, fail: true},
		"a number":                   {body: `12`, fail: true},
		"a message":                  {body: `"try later"`, fail: true},
		"nothing":                    {body: ``, fail: true},
		"a page":                     {body: `<html>`, fail: true},
		"half of a list":             {body: `[{"fuelType":"PETROL"`, fail: true},
		"two answers":                {body: `[] []`, fail: true},
		"an encoding other than UTF": {body: "[{\"fuelType\":\"P\xe9TROL\"}]", fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decodeTexts([]byte(c.body), "fuelType")
			if (err != nil) != c.fail || !slices.Equal(got, c.want) || (!c.fail && got == nil) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestNumbersMayBeTexts(t *testing.T) {
	t.Parallel()
	makes, err := decodeMakes([]byte(`[{"makeId":"1503191","makeName":"TOYOTA"},{"makeId":7,"makeName":"BMW"},{"makeId":8,"makeName":null}]`))
	if want := []catalogue.Make{{ID: 1503191, Name: "TOYOTA"}, {ID: 7, Name: "BMW"}}; err != nil || !slices.Equal(makes, want) {
		t.Errorf("makes %v, %v", makes, err)
	}
	years, err := decodeTexts([]byte(`[{"yom":2015},{"yom":"2016"},{"yom":2017.0},{"yom":""},{"yom":0}]`), "yom")
	if want := []string{"2015", "2016", "2017"}; err != nil || !slices.Equal(years, want) {
		t.Errorf("years %v, %v", years, err)
	}
	if _, err := decodeTexts([]byte(`[{"yom":"twenty"}]`), "yom"); err == nil {
		t.Error("a word was read as a year")
	}
}

var asked = catalogue.Vehicle{ModelBody: "FORESTER - SJ5 - SUV", YOM: 2014, Country: "JAPAN", FuelType: "PETROL", EngineCapacity: "1501 - 2000 CC"}

// answer is the recorded answer of 2025 Q4 for the vehicle asked, with fields
// changed; a nil leaves a field out.
func answer(changes map[string]any) string {
	fields := map[string]any{
		"referenceNumber": "25264120160", "bodyType": "SUV", "yom": 2014, "country": "JAPAN", "fuelType": "PETROL",
		"engineCapacity": "1501 - 2000 CC", "cifInUSD": "2,439.00", "importDutyInUSD": "609.75", "exiseDutyInUSD": "152.44",
		"exiseDutyDueToAgeInUSD": "914.63", "vatInUSD": "797.86", "customProcessingFeeInUSD": "14.63",
		"railwayDevLevyInUSD": "48.78", "indDevLevy": "0.00", "hivRespLevy": "150,000.00",
		"totalImportTaxesInUSD": "2,538.08", "totalImportTaxesInTZS": "6,512,672.49",
		"vehicleRegistrationFeeInTZS": "500,000.00", "totalTaxesInTZS": "7,162,672.49", "quarter": 4, "year": 2025,
	}
	maps.Copy(fields, changes)
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(body)
}

type fields = map[string]any

func TestDetailsAreChecked(t *testing.T) {
	other := fields{"yom": 2013}
	for name, c := range map[string]struct {
		body     string
		fail     string   // part of the error, "" for none
		warnings []string // codes
	}{
		"as recorded":                            {body: answer(nil)},
		"spaces and case of the identity":        {body: answer(fields{"country": "Japan ", "engineCapacity": "1501 -  2000 cc"})},
		"year as text":                           {body: answer(fields{"yom": "2014"})},
		"another year":                           {body: answer(other), fail: "yom"},
		"another country":                        {body: answer(fields{"country": "THAILAND"}), fail: "country"},
		"another fuel":                           {body: answer(fields{"fuelType": "DIESEL"}), fail: "fuelType"},
		"another band":                           {body: answer(fields{"engineCapacity": "1001 - 1500 CC"}), fail: "engineCapacity"},
		"another label":                          {body: answer(fields{"modelBody": "FORESTER - SJG - SUV"}), fail: "modelBody"},
		"no label, no body type":                 {body: answer(fields{"bodyType": nil})},
		"part of the identity":                   {body: answer(fields{"yom": nil, "country": "-"}), warnings: []string{warnIdentity}},
		"none of the identity":                   {body: answer(fields{"yom": nil, "country": nil, "fuelType": "", "engineCapacity": nil}), fail: "names no vehicle"},
		"two vehicles, one of them asked for":    {body: "[" + answer(other) + "," + answer(nil) + "]"},
		"two answers for the vehicle":            {body: "[" + answer(nil) + "," + answer(nil) + "]", fail: "2 answers"},
		"two other vehicles":                     {body: "[" + answer(other) + "," + answer(other) + "]", fail: "another vehicle"},
		"a missing money field":                  {body: answer(fields{"vatInUSD": nil}), fail: "vatInUSD is missing"},
		"a blank money field":                    {body: answer(fields{"cifInUSD": " - "}), fail: "cifInUSD is missing"},
		"a money field of words":                 {body: answer(fields{"vatInUSD": "free"}), fail: "vatInUSD"},
		"half of the thousands":                  {body: answer(fields{"cifInUSD": "24,39.00"}), fail: "cifInUSD"},
		"a negative amount":                      {body: answer(fields{"vatInUSD": "-797.86"}), fail: "negative"},
		"an amount above every price":            {body: answer(fields{"totalTaxesInTZS": "100,000,000,000,000.01"}), fail: "too large"},
		"the largest amount":                     {body: answer(fields{"totalTaxesInTZS": "100,000,000,000,000"}), warnings: []string{warnSumTZS}},
		"an absurd exponent":                     {body: strings.Replace(answer(nil), `"2,439.00"`, "1e999999999", 1), fail: "cifInUSD"},
		"no industrial levy, sums show zero":     {body: answer(fields{"indDevLevy": nil})},
		"no HIV levy, though sums need it":       {body: answer(fields{"hivRespLevy": nil}), fail: "hivRespLevy missing"},
		"no HIV levy, sums show zero":            {body: answer(fields{"hivRespLevy": nil, "totalTaxesInTZS": "7,012,672.49"})},
		"no industrial levy, though USD need it": {body: answer(fields{"indDevLevy": nil, "totalImportTaxesInUSD": "2,600.00"}), fail: "indDevLevy missing"},
		"an industrial levy in USD":              {body: answer(fields{"indDevLevy": "10.00", "totalImportTaxesInUSD": "2,548.08"})},
		"an industrial levy in TZS":              {body: answer(fields{"indDevLevy": "10,000.00", "totalTaxesInTZS": "7,172,672.49"})},
		"USD lines that differ by six cents":     {body: answer(fields{"totalImportTaxesInUSD": "2,538.03"}), warnings: []string{warnSumUSD}},
		"USD lines that differ by five cents":    {body: answer(fields{"totalImportTaxesInUSD": "2,538.04"})},
		"a TZS total without the fee":            {body: answer(fields{"totalTaxesInTZS": "6,662,672.49"}), warnings: []string{warnSumTZS}},
		"null":                                   {body: `null`, fail: errNoVehicle.Error()},
		"an empty list":                          {body: `[]`, fail: errNoVehicle.Error()},
		"a list with an empty object":            {body: `[{}]`, fail: errNoVehicle.Error()},
		"an object of blanks":                    {body: `{"referenceNumber":null,"yom":2014,"cifInUSD":null,"vatInUSD":""}`, fail: errNoVehicle.Error()},
		"a message in an object":                 {body: `{"message":"invalid request"}`, fail: "names no vehicle"},
		"an amount printed as floating point":    {body: strings.Replace(answer(nil), `"6,512,672.49"`, "6.51267248507459E6", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			tax, warnings, err := decodeDetails([]byte(c.body), asked)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Fatalf("got %+v, %v; want an error with %q", tax, err, c.fail)
				}
				return
			}
			var codes []string
			for _, w := range warnings {
				codes = append(codes, w.Code)
			}
			if err != nil || !slices.Equal(codes, c.warnings) {
				t.Fatalf("warnings %v, %v; want %v", codes, err, c.warnings)
			}
			if tax.CIFInUSD.String() != "2,439.00" || tax.TotalImportTaxesInTZS.String() != "6,512,672.49" {
				t.Errorf("tax %+v", tax)
			}
		})
	}
}

// FuzzDecode holds that no answer makes the decoder panic, that what it
// accepts is about the vehicle asked for and fit to be sent on, and that it
// never accepts an amount that it cannot print.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		answer(nil), "[" + answer(nil) + "]", answer(fields{"cifInUSD": 2439.00}), answer(fields{"yom": "2013"}),
		`[{"makeId":"1","makeName":"A"}]`, `[{"yom":2015.0}]`, `null`, `{}`, `[[]]`, `"x"`, `<html>`, "\xef\xbb\xbf[]", ``,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, field := range []string{"modelBody", "fuelType"} {
			texts, err := decodeTexts(body, field)
			if err == nil && slices.ContainsFunc(texts, blank) {
				t.Errorf("a blank text in %q", texts)
			}
		}
		if makes, err := decodeMakes(body); err == nil && slices.ContainsFunc(makes, func(m catalogue.Make) bool { return blank(m.Name) }) {
			t.Errorf("a blank make in %v", makes)
		}
		_, _ = decodeTexts(body, "yom")
		tax, _, err := decodeDetails(body, asked)
		if err != nil {
			return
		}
		if tax.YOM != 0 && tax.YOM != asked.YOM || tax.FuelType != "" && !blank(tax.FuelType) && fold(tax.FuelType) != asked.FuelType {
			t.Errorf("an answer about another vehicle: %+v", tax)
		}
		printed, err := json.Marshal(tax)
		var again vehicle.Tax
		if err = errors.Join(err, json.Unmarshal(printed, &again)); err != nil {
			t.Errorf("%s does not read back: %v", printed, err)
		}
	})
}

func ExampleError() {
	err := &Error{Kind: Refused, Call: callMakes, Status: 403}
	fmt.Println(err)
	// Output: TRA's calculator refuses requests from this server (getMakes, HTTP 403)
}
