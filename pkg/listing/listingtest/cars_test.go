package listingtest_test

import (
	"bytes"
	"image/jpeg"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/listingtest"

	"ushuru/pkg/sheet/sheettest"

	"ushuru/pkg/sheet/scan"
)

// TestSheetsAreOfTheirCars holds the committed pictures against the cars: the
// mark on each is of the sheet whose truth names the same car. One car's sheet
// has another mileage than its page, for the comparison to find.
func TestSheetsAreOfTheirCars(t *testing.T) {
	url, client := site(t, fetch.Options{})
	hosts, err := scan.NewHosts()
	if err != nil {
		t.Fatal(err)
	}
	found, differ := 0, 0
	for _, car := range listingtest.Cars() {
		if car.Sheet() == "" {
			continue
		}
		found++
		link := url + car.Sheet()
		if canonical, err := hosts.Canonical(link, true); err != nil || canonical != link {
			t.Errorf("%s: %q, %v", link, canonical, err)
		}
		if _, err := hosts.Canonical(link, false); err == nil {
			t.Errorf("%s is let in outside of the demo", link)
		}
		page := get(t, client, link)
		picture, err := jpeg.Decode(bytes.NewReader(page.Body))
		if err != nil || len(page.Body) > 80<<10 {
			t.Fatalf("%s: %d bytes, %v", car.Sheet(), len(page.Body), err)
		}
		id, _, err := sheettest.ReadMark(picture)
		shown, ok := sheettest.ByID(id)
		if err != nil || !ok || id != strings.ToLower(car.Ref) {
			t.Fatalf("%s: mark %q, %v", car.Sheet(), id, err)
		}
		truth := shown.Truth
		year, month, _ := strings.Cut(car.Registration, "/")
		registered, _ := strconv.Atoi(month)
		if truth.Fields["chassis_no"] != car.Frame || car.Code != "" && truth.Fields["model_code"] != car.Code ||
			truth.Meaning.FirstRegistration != year+"-"+strconv.Itoa(100 + registered)[1:] {
			t.Errorf("%s: %+v", car.Ref, truth)
		}
		if truth.Meaning.Mileage != car.Mileage {
			differ++
		}
	}
	if found != len(sheettest.Demos()) || differ != 1 {
		t.Errorf("%d sheets of %d, %d with another mileage", found, len(sheettest.Demos()), differ)
	}
}
