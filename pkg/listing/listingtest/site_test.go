package listingtest_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
	"ushuru/pkg/listing/listingtest"
)

func site(t *testing.T, options fetch.Options) (string, *fetch.Client) {
	t.Helper()
	server := httptest.NewServer(listingtest.New())
	t.Cleanup(server.Close)
	options.AllowLoopback = true
	client, err := fetch.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return server.URL, client
}

func get(t *testing.T, client *fetch.Client, url string) *fetch.Page {
	t.Helper()
	page, err := client.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if page.Header.Get(listingtest.Header) != listingtest.Banner {
		t.Errorf("%s does not say that it is simulated", url)
	}
	return page
}

func TestEveryCarIsReadAsShown(t *testing.T) {
	url, client := site(t, fetch.Options{})
	for _, shown := range listingtest.Cars() {
		t.Run(shown.Ref, func(t *testing.T) {
			page := get(t, client, url+shown.Path())
			if !strings.Contains(string(page.Body), "SIMULATED") {
				t.Error("the page does not say that it is simulated")
			}
			read, err := listing.Read(t.Context(), page)
			if err != nil {
				t.Fatal(err)
			}
			car := read.Car
			basis, year := "registration", shown.Year()
			if shown.Manufacture != "" {
				basis, year = "manufacture", shown.Manufacture[:4]
			}
			total := "<nil>"
			if shown.Total != 0 {
				total = strconv.Itoa(shown.Total)
			}
			cf := "<nil>"
			if car.CFPriceUSD != nil {
				cf = car.CFPriceUSD.String()
			}
			engine, _ := strconv.Atoi(strings.NewReplacer(",", "", "cc", "", "-", "0").Replace(shown.Engine))
			raw := shown.Code
			if raw == "" {
				raw = shown.Frame
			}
			got := fmt.Sprint(car.Make, car.Model, car.RawModelCode, car.FrameNumber, car.Version, car.Year, car.YearBasis, car.EngineCC, car.Fuel, car.FOBPriceUSD, cf, *car.MileageKM, car.StockNo, car.BodyType)
			want := fmt.Sprint(shown.Make, strings.ToUpper(shown.Model), raw, shown.Frame, shown.Version, year, basis, engine, strings.ToUpper(shown.Fuel), shown.Price, total, shown.Mileage, shown.Ref, shown.Body)
			if got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			wantImages := shown.Images
			if shown.Page == "dealer" {
				wantImages = 1
			}
			if len(car.Images) != wantImages {
				t.Errorf("%d images, want %d", len(car.Images), wantImages)
			}
			sheet := ""
			if car.ConditionReportURL != nil {
				sheet = *car.ConditionReportURL
			}
			if want := shown.Sheet(); want == "" && sheet != "" || want != "" && sheet != url+want {
				t.Errorf("inspection sheet %q, want %q", sheet, want)
			}
			for _, image := range car.Images {
				if picture := get(t, client, image); picture.Status != 200 || !strings.HasPrefix(string(picture.Body), "\x89PNG") {
					t.Errorf("%s: status %d", image, picture.Status)
				}
			}
		})
	}
}

func TestPathsAreCanonical(t *testing.T) {
	for _, car := range listingtest.Cars() {
		url := "http://127.0.0.1:8099" + car.Path()
		if got, err := listing.Canonical(url+"?utm_source=x", true); err != nil || got != url {
			t.Errorf("%s: %s, %v", url, got, err)
		}
	}
}

func TestFaultPages(t *testing.T) {
	url, client := site(t, fetch.Options{Timeout: 3 * time.Second})
	for path, want := range map[string]string{
		"/": listing.SeveralCars, "/list": listing.SeveralCars, "/blocked": listing.Blocked, "/gone": listing.Gone, "/sold": listing.Sold,
		"/nowhere": listing.Gone, "/images/SM100001_9.png": listing.Gone,
		"/huge": fetch.FetchTooLarge, "/redirect-private": fetch.URLForbidden,
	} {
		page, err := client.Get(t.Context(), url+path)
		if err == nil {
			_, err = listing.Read(t.Context(), page)
		}
		var failure *fetch.Error
		if !errors.As(err, &failure) || failure.Code != want || failure.Retryable {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

func TestSlowPageTimesOut(t *testing.T) {
	url, client := site(t, fetch.Options{Timeout: 50 * time.Millisecond})
	_, err := client.Get(t.Context(), url+"/slow")
	var failure *fetch.Error
	if !errors.As(err, &failure) || failure.Code != fetch.FetchTimeout {
		t.Errorf("%v", err)
	}
}

func TestFlakyPageWorksTheSecondTime(t *testing.T) {
	url, client := site(t, fetch.Options{})
	_, err := listing.Read(t.Context(), get(t, client, url+"/flaky"))
	var failure *fetch.Error
	if !errors.As(err, &failure) || failure.Code != listing.Blocked || !failure.Retryable || failure.Wait != time.Second {
		t.Fatalf("%v", err)
	}
	read, err := listing.Read(t.Context(), get(t, client, url+"/flaky"))
	if err != nil || read.Car.Model != "COROLLA AXIO" {
		t.Errorf("%v, %v", read, err)
	}
}

func TestOnlyReading(t *testing.T) {
	url, _ := site(t, fetch.Options{})
	response, err := http.Post(url+"/list", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("status %d", response.StatusCode)
	}
}

func TestPagesThatCanBeMisreadAreReadAsTheySay(t *testing.T) {
	url, client := site(t, fetch.Options{})
	for _, doubt := range listingtest.Doubts() {
		page := get(t, client, url+doubt.Path())
		if !strings.Contains(string(page.Body), "SIMULATED") {
			t.Error("the page does not say that it is simulated")
		}
		read, err := listing.Read(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		car := read.Car
		rows := map[string]string{}
		for _, row := range doubt.Rows {
			rows[row[0]] = row[1]
		}
		year := (rows["YOM"] + rows["Year of manufacture"])
		if year = year[:min(4, len(year))]; year != "" && (car.Manufacture == "" || car.Manufacture[:4] != year) || year == "" && car.Year != 0 {
			t.Errorf("%s: year %d by %q, want %s", doubt.Ref, car.Year, car.YearBasis, year)
		}
		if doubt.Price == 0 && car.FOBPriceUSD != nil || doubt.Price != 0 && (car.FOBPriceUSD == nil || car.FOBPriceUSD.Decimal().IntPart() != int64(doubt.Price)) {
			t.Errorf("%s: price %v, want %d", doubt.Ref, car.FOBPriceUSD, doubt.Price)
		}
		if car.StockNo != doubt.Ref || car.Model != strings.ToUpper(doubt.Model) {
			t.Errorf("%s: %+v", doubt.Ref, car)
		}
	}
}

func TestTheLargePageIsOfTheSameCar(t *testing.T) {
	t.Parallel()
	small, err := listing.Read(t.Context(), listing.FromFile(listingtest.Large(0), ""))
	if err != nil {
		t.Fatal(err)
	}
	body := listingtest.Large(600_000)
	large, err := listing.Read(t.Context(), listing.FromFile(body, ""))
	if err != nil || !reflect.DeepEqual(large.Car, small.Car) || len(body) < 600_000 || len(body) > 610_000 {
		t.Errorf("%d bytes: %+v, %v; want %+v", len(body), large, err, small.Car)
	}
}
