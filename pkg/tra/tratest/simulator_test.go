package tratest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/tra/tratest"
)

// get returns the status and the body of an answer, which must say that it is
// simulated.
func get(t *testing.T, address string) (int, string) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get(tratest.Header); got != tratest.HeaderValue {
		t.Errorf("%s: header %s is %q", address, tratest.Header, got)
	}
	return res.StatusCode, string(body)
}

// list calls a list and returns its one field.
func list(t *testing.T, server *tratest.Server, call, field string, params ...string) (values []string) {
	t.Helper()
	query := url.Values{}
	for i := 0; i < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	_, body := get(t, server.URL+"/"+call+"?"+query.Encode())
	var items []map[string]any
	if err := json.Unmarshal([]byte(body), &items); err != nil {
		t.Fatalf("%s: %v in %.100s", call, err, body)
	}
	for _, item := range items {
		values = append(values, fmt.Sprint(item[field]))
	}
	return values
}

func TestTheCatalogueIsRichAndShapedLikeTheAuthoritys(t *testing.T) {
	server := tratest.Start(t, tratest.Options{})
	segments := map[int]int{}
	labels := 0
	for _, name := range list(t, server, "getMakes", "makeName") {
		id := server.MakeID(name)
		if id < 1_000_000 || id > 9_999_999 {
			t.Errorf("%s has id %d, want seven digits", name, id)
		}
		for _, label := range list(t, server, "getModelBody", "modelBody", "makeId", strconv.Itoa(id)) {
			segments[len(strings.Split(label, " - "))]++
			labels++
			if label != strings.ToUpper(label) || strings.Contains(label, "  ") {
				t.Errorf("label %q", label)
			}
		}
	}
	if labels < 1800 || segments[3] == 0 || segments[4] == 0 || len(segments) != 2 {
		t.Errorf("%d labels, by segments %v", labels, segments)
	}
	for _, name := range []string{"BMW", "MERCEDES", "LANDROVER", "CHRYSLER JEEP", "TOYOTA"} {
		if server.MakeID(name) == 0 {
			t.Errorf("no %s", name)
		}
	}
}

func TestTheCataloguesOddities(t *testing.T) {
	server := tratest.Start(t, tratest.Options{})
	var gap, single, fuels, countries, bands int
	for _, name := range []string{"HONDA", "BMW"} {
		id := strconv.Itoa(server.MakeID(name))
		for _, label := range list(t, server, "getModelBody", "modelBody", "makeId", id) {
			of := []string{"makeId", id, "modelBody", label}
			years := list(t, server, "getYom", "yom", of...)
			if !slices.IsSorted(years) || len(years) == 0 {
				t.Fatalf("%s: years %v", label, years)
			}
			if len(years) == 1 {
				single++
			} else if len(years) <= number(years[len(years)-1])-number(years[0]) {
				gap++
			}
			of = append(of, "yom", years[0])
			origin := list(t, server, "getCountryOfOrigin", "countryOfOrigin", of...)
			of = append(of, "countryOfOrigin", "JAPAN")
			fuel := list(t, server, "getFuelType", "fuelType", of...)
			of = append(of, "fuelType", fuel[0])
			band := list(t, server, "getEngineCapacity", "engineCapacity", of...)
			for _, count := range []struct {
				list []string
				n    *int
			}{{origin, &countries}, {fuel, &fuels}, {band, &bands}} {
				if len(count.list) > 1 {
					*count.n++
				}
			}
			if !slices.Contains(origin, "JAPAN") || len(band) == 0 {
				t.Fatalf("%s: countries %v, bands %v", label, origin, band)
			}
		}
	}
	for what, n := range map[string]int{"gaps": gap, "single years": single, "several fuels": fuels, "several countries": countries, "several bands": bands} {
		if n == 0 {
			t.Errorf("no label with %s", what)
		}
	}
}

func number(text string) (n int) { _, _ = fmt.Sscan(text, &n); return n }

func TestTheKnownHybridsAreThere(t *testing.T) {
	server := tratest.Start(t, tratest.Options{})
	for _, label := range []string{"COROLLA AXIO - NKE165 - HYBRID - SEDAN", "COROLLA FIELDER - NKE165 - HYBRID - WAGON"} {
		of := []string{"makeId", strconv.Itoa(server.MakeID("TOYOTA")), "modelBody", label}
		if years := list(t, server, "getYom", "yom", of...); !slices.Contains(years, "2015") || !slices.Contains(years, "2019") {
			t.Errorf("%s: years %v", label, years)
		}
		for _, step := range []struct{ call, param, field, want string }{
			{"getCountryOfOrigin", "yom", "countryOfOrigin", "2019"},
			{"getFuelType", "countryOfOrigin", "fuelType", "JAPAN"},
			{"getEngineCapacity", "fuelType", "engineCapacity", "PETROL & ELECTRIC"},
		} {
			of = append(of, step.param, step.want)
			got := list(t, server, step.call, step.field, of...)
			want := map[string]string{"getCountryOfOrigin": "JAPAN", "getFuelType": "PETROL & ELECTRIC", "getEngineCapacity": "1001 - 1500 CC"}[step.call]
			if !slices.Equal(got, []string{want}) {
				t.Errorf("%s %s: %v, want %s", label, step.call, got, want)
			}
		}
	}
}

func TestMakeIdsDependOnTheSeed(t *testing.T) {
	a, b, again := tratest.Start(t, tratest.Options{Seed: 1}), tratest.Start(t, tratest.Options{Seed: 2}), tratest.Start(t, tratest.Options{Seed: 1})
	if a.MakeID("TOYOTA") == b.MakeID("TOYOTA") || a.MakeID("TOYOTA") != again.MakeID("TOYOTA") {
		t.Errorf("TOYOTA is %d, %d and %d", a.MakeID("TOYOTA"), b.MakeID("TOYOTA"), again.MakeID("TOYOTA"))
	}
}

// detailsQuery asks about the hybrid Fielder of a year.
func detailsQuery(server *tratest.Server, country string, year int) string {
	return server.URL + "/getVehicleDetails?makeId=" + strconv.Itoa(server.MakeID("TOYOTA")) +
		"&modelBody=COROLLA%20FIELDER%20-%20NKE165%20-%20HYBRID%20-%20WAGON&yom=" + strconv.Itoa(year) +
		"&" + country + "=JAPAN&fuelType=PETROL%20%26%20ELECTRIC&engineCapacity=1001%20-%201500%20CC"
}

func TestDetails(t *testing.T) {
	server := tratest.Start(t, tratest.Options{Date: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)})
	_, first := get(t, detailsQuery(server, "cuntryOfOrigin", 2019))
	_, second := get(t, detailsQuery(server, "cuntryOfOrigin", 2019))
	reference := regexp.MustCompile(`"referenceNumber":"(SIM\d+)"`)
	a, b := reference.FindStringSubmatch(first), reference.FindStringSubmatch(second)
	if a == nil || b == nil || a[1] == b[1] {
		t.Errorf("reference numbers %v and %v", a, b)
	}
	for _, part := range []string{`"quarter":4,"year":2026`, `"make":"TOYOTA","model":"COROLLA FIELDER","bodyType":"WAGON"`, `"hivRespLevy":"100,000.00"`} {
		if !strings.Contains(first, part) {
			t.Errorf("no %s in %s", part, first)
		}
	}
	for what, address := range map[string]string{
		"the right spelling of the country": detailsQuery(server, "countryOfOrigin", 2019),
		"a year that is not listed":         detailsQuery(server, "cuntryOfOrigin", 1971),
		"no parameters":                     server.URL + "/getVehicleDetails",
	} {
		if status, body := get(t, address); status != 200 || body != "null" {
			t.Errorf("%s: %d %s, want null", what, status, body)
		}
	}
}

func TestValuesFallWithAge(t *testing.T) {
	cif := regexp.MustCompile(`"cifInUSD":"([\d,.]+)"`)
	for year, want := range map[int]string{2015: "3,199.00", 2016: "4,265.00", 2020: "7,463.00"} {
		server := tratest.Start(t, tratest.Options{Date: time.Date(2025, 11, 15, 0, 0, 0, 0, time.UTC)})
		_, body := get(t, detailsQuery(server, "cuntryOfOrigin", year))
		if got := cif.FindStringSubmatch(body); got == nil || got[1] != want {
			t.Errorf("%d: CIF %v, want %s", year, got, want)
		}
	}
}

func post(t *testing.T, address, body string) int {
	t.Helper()
	res, err := http.Post(address, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestFaultsAreSetOverHTTP(t *testing.T) {
	server := tratest.Start(t, tratest.Options{})
	makes := func() int { status, _ := get(t, server.URL+"/getMakes"); return status }
	labels := func() int { status, _ := get(t, server.URL+"/getModelBody?makeId=1"); return status }
	if got := post(t, server.Root+"/_sim/faults", `{"status": 503, "calls": ["getMakes"], "next": 2}`); got != http.StatusNoContent {
		t.Fatalf("faults: %d", got)
	}
	if got := []int{makes(), labels(), makes(), makes()}; !slices.Equal(got, []int{503, 200, 503, 200}) {
		t.Errorf("statuses %v", got)
	}
	for _, body := range []string{`{"statsu": 503}`, `{"latency": "soon"}`, `{"latency": "-1s"}`, `x`} {
		if got := post(t, server.Root+"/_sim/faults", body); got != http.StatusBadRequest {
			t.Errorf("%s: %d", body, got)
		}
	}
	post(t, server.Root+"/_sim/faults", `{"status": 503}`)
	_, _ = get(t, detailsQuery(server, "cuntryOfOrigin", 2019))
	var counts tratest.Counts
	_, body := get(t, server.Root+"/_sim/requests")
	tuple := "TOYOTA|COROLLA FIELDER - NKE165 - HYBRID - WAGON|2019|JAPAN|PETROL & ELECTRIC|1001 - 1500 CC"
	if err := json.Unmarshal([]byte(body), &counts); err != nil || counts.Calls["getMakes"] != 3 || counts.Tuples[tuple] != 1 {
		t.Errorf("counts %s, %v", body, err)
	}
	if got := post(t, server.Root+"/_sim/reset", ""); got != http.StatusNoContent || server.Count("getMakes") != 0 || makes() != 200 {
		t.Errorf("reset: %d, then %d counted", got, server.Count("getMakes"))
	}
}

func TestListsAreShortAndTheLawIsAnother(t *testing.T) {
	server := tratest.Start(t, tratest.Options{Date: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)})
	_, whole := get(t, server.URL+"/getMakes")
	_, now := get(t, detailsQuery(server, "cuntryOfOrigin", 2016))
	post(t, server.Root+"/_sim/faults", `{"shortLists": 3, "otherLaw": true}`)
	_, short := get(t, server.URL+"/getMakes")
	_, before := get(t, detailsQuery(server, "cuntryOfOrigin", 2016))
	if strings.Count(short, "makeId") != 3 || strings.Count(whole, "makeId") <= 3 {
		t.Errorf("%s", short)
	}
	reference := regexp.MustCompile(`"SIM\d+"`)
	if reference.ReplaceAllString(now, "") == reference.ReplaceAllString(before, "") {
		t.Errorf("the law is the same: %s", now)
	}
}

func TestErrorRateIsAShareAndSeeded(t *testing.T) {
	statuses := func(seed uint64) (list []int) {
		server := tratest.Start(t, tratest.Options{Seed: seed, Faults: tratest.Faults{ErrorRate: 0.3}})
		for range 200 {
			status, _ := get(t, server.URL+"/getModelBody?makeId=1")
			list = append(list, status)
		}
		return list
	}
	first := statuses(7)
	failed := 0
	for _, status := range first {
		if status == 503 {
			failed++
		}
	}
	if failed < 40 || failed > 80 || !slices.Equal(first, statuses(7)) || slices.Equal(first, statuses(8)) {
		t.Errorf("%d of 200 failed, or the seed does not decide which", failed)
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	if _, err := tratest.New(tratest.Options{Quarter: 5}); err == nil {
		t.Error("a fifth quarter was accepted")
	}
}
