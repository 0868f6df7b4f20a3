package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/testenv"
	"ushuru/pkg/testenv/browsertest"
	"ushuru/pkg/vehicle"
)

// estimate is the example of the contract, changed.
func estimate(t *testing.T, change func(*vehicle.Estimate)) vehicle.Estimate {
	t.Helper()
	data, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&e)
	}
	return e
}

// lot is two cars, of which the second is another model, and their sheets; nil for none.
type lot struct {
	car1, car2     vehicle.Estimate
	sheet1, sheet2 *sheet.Report
}

// dealer is an API that estimates two cars, at https://cars.example/1 and /2, and reads their sheets.
func dealer(t *testing.T, change func(*lot)) http.HandlerFunc {
	t.Helper()
	l := lot{car1: estimate(t, nil), car2: estimate(t, func(e *vehicle.Estimate) {
		e.Input.URL, e.Car.Model, e.Car.Year, e.Car.FrameNumber, e.Car.StockNo = "https://cars.example/2", "PASSO", 2017, "", ""
	})}
	if change != nil {
		change(&l)
	}
	l.car1.Car.ConditionReportURL, l.car2.Car.ConditionReportURL = nil, nil
	if l.sheet1 != nil {
		l.car1.Car.ConditionReportURL = new("https://cars.example/1.jpg")
	}
	if l.sheet2 != nil {
		l.car2.Car.ConditionReportURL = new("https://cars.example/2.jpg")
	}
	answers := map[string]any{"https://cars.example/1": l.car1, "https://cars.example/2": l.car2}
	for link, read := range map[string]*sheet.Report{"https://cars.example/1.jpg": l.sheet1, "https://cars.example/2.jpg": l.sheet2} {
		report, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		answers[link] = vehicle.ConditionReport{Summary: "## 1.", ID: "0123456789abcdef0123456789abcdef", Lang: "en", Report: report}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			URL string `json:"url"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		_ = json.NewEncoder(w).Encode(answers[asked.URL])
	}
}

// graded is a sheet without a fault.
func graded() *sheet.Report {
	read := &sheet.Report{}
	read.Grades.OverallRaw, read.Mileage.Flag = new("4"), new(sheet.NoFlag)
	return read
}

// reading is a report on a sheet, as the API shows it.
func reading(t *testing.T) vehicle.ConditionReport {
	t.Helper()
	data, err := os.ReadFile("../testdata/sheet.json")
	if err != nil {
		t.Fatal(err)
	}
	var said transcribe.Transcript
	if err := json.Unmarshal(data, &said); err != nil {
		t.Fatal(err)
	}
	report, err := json.Marshal(interpret.Transcript(said, interpret.Known{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}))
	if err != nil {
		t.Fatal(err)
	}
	return vehicle.ConditionReport{Summary: "## 1.", ID: "0123456789abcdef0123456789abcdef", Lang: "en", Report: report}
}

// saying is an API that answers every request with a value, and keeps the last body.
func saying(value any, last *string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if last != nil && r.Method == http.MethodPost {
			*last = r.URL.Path + " " + string(body)
		}
		_ = json.NewEncoder(w).Encode(value)
	}
}

// asked posts a form, and returns where its answer is.
func asked(t *testing.T, h http.Handler, path, body string) string {
	t.Helper()
	w := post(h, path, body, http.Header{})
	at := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !regexp.MustCompile("^"+path+`/[A-Z2-7]{26}(\?.+)?$`).MatchString(at) {
		t.Fatalf("%d %s\n%s", w.Code, at, w.Body)
	}
	return at
}

// partOf returns the address of a part of a page in a language, on the terms of that page.
func partOf(page, below, lang string) string {
	path, query, _ := strings.Cut(page, "?")
	fields, _ := url.ParseQuery(query)
	fields.Set("lang", lang)
	return path + below + "?" + fields.Encode()
}

// shows reports what a page lacks.
func shows(t *testing.T, h http.Handler, at string, wanted ...string) string {
	t.Helper()
	w := get(h, at, http.Header{})
	body := w.Body.String()
	for _, want := range wanted {
		if !strings.Contains(body, want) {
			t.Errorf("%s: %d, no %q\n%s", at, w.Code, want, body)
		}
	}
	return body
}

func TestTwoCarsAreComparedInBothLanguages(t *testing.T) {
	t.Parallel()
	const doubt = "Nobody has shown an auction sheet"
	_, h := served(t, dealer(t, nil))
	at := asked(t, h, "/c", "u1=https://cars.example/1&u2=look+https://cars.example/2.")
	body := shows(t, h, partOf(at, "", "en"), "<h1", "Car 1: TOYOTA COROLLA FIELDER 2016", "Car 2: TOYOTA PASSO 2017", "TSh 45.2 million",
		"In its favour", "Whole cost of car 2", `property="og:title" content="TOYOTA COROLLA FIELDER 2016: about TSh 45.2 million (TSh `, "TOYOTA PASSO 2017: about TSh ",
		`property="og:description" content="Ask for the sheets first. An estimate, not an offer`)
	title := between(body, `og:title" content="`, `"`)
	share, err := url.QueryUnescape(between(body, "wa.me/?text=", `"`))
	if err != nil || strings.Count(title, doubt) != 2 || strings.Count(share, doubt) != 2 ||
		strings.Count(title, "figures of ") != 2 || !strings.Contains(share, "An estimate, not an offer") {
		t.Errorf("got the title\n%s\nand the message\n%s\nwant for each car its day and %q, and that it is an estimate", title, share, doubt)
	}
	if bars, points := strings.Count(body, `class="bar"`), strings.Count(body, `class="both"`); bars != 2 || points != 6 {
		t.Errorf("%d bars of costs, %d of points", bars, points)
	}
	shows(t, h, partOf(at, "", "sw"), "Gari 1: TOYOTA COROLLA FIELDER 2016", "TSh milioni 45.2", "Faida zake")
	if again := asked(t, h, "/c", "u1=https://cars.example/1&u2=https://cars.example/2"); again != at {
		t.Errorf("the same request has another page")
	}
}

// TestTheFirstSentenceOfAComparison is section 5.3 of the design: a fact that forbids a
// car comes first, and there is no advice without ground.
func TestTheFirstSentenceOfAComparison(t *testing.T) {
	t.Parallel()
	cheap := func(e *vehicle.Estimate) {
		half := func(a money.Amount) money.Amount { return money.New(a.Decimal().Shift(-1)) }
		e.DriveAway.TotalTZS, e.DriveAway.LowTZS, e.DriveAway.HighTZS = half(e.DriveAway.TotalTZS), half(e.DriveAway.LowTZS), half(e.DriveAway.HighTZS)
	}
	for name, c := range map[string]struct {
		change func(*lot)
		want   string
	}{
		"a wreck": {func(l *lot) {
			l.sheet1, l.sheet2 = graded(), graded()
			l.sheet1.RepairHistory.Status = "yes"
		}, "<p>Car 1 is not our advice: The auction sheet says that the body frame was repaired. Car 2 "},
		"unseen": {func(*lot) {}, ">Ask for the sheets first</h1>"},
		"sold": {func(l *lot) {
			l.car2.Warnings = append(l.car2.Warnings, message.New("warning/listing_sold", nil))
		}, "<p>Car 2 is not our advice: Its site marks it as sold or under offer."},
		"too close":   {func(l *lot) { l.sheet1, l.sheet2 = graded(), graded() }, ">Too close to call</h1>"},
		"other class": {func(l *lot) { cheap(&l.car2) }, ">Not the same class of car"},
		"no price": {func(l *lot) {
			l.car2.DriveAway.Complete, l.car2.Summary.OnTheRoad, l.car2.Summary.Car = false, nil, nil
			l.car2.Summary.CarAndShipping, l.car2.Summary.Shipping = nil, nil
		}, ">No advice yet: a cost is not known</h1>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, h := served(t, dealer(t, c.change))
			body := shows(t, h, asked(t, h, "/c", "u1=https://cars.example/1&u2=https://cars.example/2"), c.want)
			if name == "no price" && (strings.Count(body, `class="bar"`) != 1 || !strings.Contains(body, "The whole cost is not known")) {
				t.Errorf("a car without a price has a bar\n%s", body)
			}
			if (name == "a wreck") != strings.Contains(body, "Our advice: car 2") && name != "sold" {
				t.Errorf("%s: the advice\n%s", name, body)
			}
		})
	}
}

func TestTheLinkThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "//two") {
			refusing(http.StatusBadRequest, `{"error":"url: no","code":"url_invalid","param":"url"}`)(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(estimate(t, nil))
	})
	w := post(h, "/c", "u1=https://cars.example/1&u2=https://two", http.Header{})
	for _, want := range []string{"Car 2: this is not the link", `value="https://cars.example/1"`, `value="https://two" aria-describedby="hint problem" aria-invalid="true"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s\n%s", want, w.Body)
		}
	}
	if w.Code != http.StatusUnprocessableEntity || strings.Count(w.Body.String(), "aria-invalid") != 1 {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
	_, h = served(t, refusing(http.StatusBadRequest, `{"error":"No.","code":"url_missing"}`))
	for path, want := range map[string]string{"/c": "Please enter both cars", "/bid": "Please enter the link of the car"} {
		if w := post(h, path, "target=30000000", http.Header{}); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %d, want %q\n%s", path, w.Code, want, w.Body)
		}
	}
	_, h = served(t, dealer(t, nil))
	if w := post(h, "/c", "u1=https://cars.example/1&u2=look+https://cars.example/1", http.Header{}); !strings.Contains(w.Body.String(), "two different ones") {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
}

func TestAFailedComparisonAndSheetNameTheNextStep(t *testing.T) {
	t.Parallel()
	said := message.Text{EN: "Car 2 (https://cars.example/2): It is gone.", SW: "Gari 2: halipo."}
	yes := true
	for name, c := range map[string]struct {
		why        vehicle.Error
		path, body string
		want, not  []string
	}{
		"a car is gone": {
			vehicle.Error{Code: "listing_gone", Message: said.EN, Text: &said},
			"/c", "u1=https://cars.example/1&u2=https://cars.example/2",
			[]string{"no longer on the site", "This car is to be compared with", "/c?u1="},
			nil,
		},
		"no match": {
			vehicle.Error{Code: "ambiguous_match", Message: said.EN, Text: &said, Car: &vehicle.Car{Make: "NISSAN"}, Candidates: []vehicle.Candidate{{ModelBody: "X"}}},
			"/c", "u1=https://cars.example/1&u2=https://cars.example/2",
			[]string{`name="modelBody" value="X"`, `name="with" value="/e/`, "/choose"},
			nil,
		},
		"not a sheet":   {vehicle.Error{Code: "not_a_sheet", Message: said.EN, Text: &said}, "/s", "u=https://cars.example/1.jpg", []string{"was not read", `href="/s"`}, []string{"Try again"}},
		"budget":        {vehicle.Error{Code: "ai_budget_used_up", Message: said.EN, Text: &said}, "/s", "u=https://cars.example/1.jpg", []string{"was not read", `href="/s"`}, nil},
		"the AI sleeps": {vehicle.Error{Code: "ai_unavailable", Message: said.EN, Text: &said, Retryable: &yes}, "/s", "u=https://cars.example/1.jpg", []string{"Try again", `value="https://cars.example/1.jpg"`}, nil},
		"a bid without match": {
			vehicle.Error{Code: "ambiguous_match", Message: said.EN, Text: &said, Car: &vehicle.Car{Make: "NISSAN", Model: "NOTE"}, Candidates: []vehicle.Candidate{{Make: "NISSAN", ModelBody: "NOTE - HE12"}}},
			"/bid", "u=https://cars.example/1&target=30000000",
			[]string{`action="/bid"`, `name="target" value="30000000"`, `value="NOTE - HE12"`, "/choose"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, h := served(t, failing(c.why))
			w := post(h, c.path, c.body, http.Header{})
			body := shows(t, h, w.Header().Get("Location"), c.want...)
			for _, not := range c.not {
				if strings.Contains(body, not) {
					t.Errorf("it offers %q\n%s", not, body)
				}
			}
		})
	}
}

func TestTheHighestPriceIsShown(t *testing.T) {
	t.Parallel()
	price := func(n int64) *int64 { return &n }
	limits := func(likely *int64) *vehicle.PriceLimits {
		return &vehicle.PriceLimits{Low: price(4900), Likely: likely, High: price(5600)}
	}
	for name, c := range map[string]struct {
		change     func(*vehicle.Estimate)
		body, sent string
		want       []string
	}{
		"of a listing": {
			func(e *vehicle.Estimate) {
				e.MaxPrice = &vehicle.MaxPrice{TargetTZS: 40_000_000, FOB: limits(price(5117)), CF: limits(price(6201))}
			},
			"u=https://cars.example/1&target=TSh+40,000,000", `/v1/estimate {"byMonth":true,"url":"https://cars.example/1"}`,
			[]string{
				`id="number">USD 5,117<`, "USD 6,201", "no more than USD 4,900", "At a price above USD 5,600", "asks USD 6,180", `action="/go"`,
				"at most USD 5,117 for TSh 40 million", "/choose",
			},
		},
		"of a described car": {
			func(e *vehicle.Estimate) {
				e.Car.CFPriceUSD, e.Car.FOBPriceUSD = e.Car.FOBPriceUSD, nil
				e.MaxPrice = &vehicle.MaxPrice{TargetTZS: 40_000_000, FOB: limits(price(5117)), CF: limits(price(6201))}
			},
			"make=TOYOTA&modelBody=PASSO&year=2017&target=40000000", `/v1/quote {"byMonth":true,"make":"TOYOTA","modelBody":"PASSO","year":2017}`,
			[]string{`id="number">USD 6,201<`, `action="/hand"`},
		},
		"too low": {
			func(e *vehicle.Estimate) {
				e.MaxPrice = &vehicle.MaxPrice{TargetTZS: 2_000_000, FOB: &vehicle.PriceLimits{}, CF: &vehicle.PriceLimits{}}
			}, "u=https://cars.example/1&target=2000000", "", []string{"No price is low enough", "above TSh 2 million"},
		},
		"not known": {
			func(e *vehicle.Estimate) { e.MaxPrice = &vehicle.MaxPrice{TargetTZS: 2_000_000} },
			"u=https://cars.example/1&target=2000000", "",
			[]string{"is not known for this car"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent string
			pages, h := served(t, saying(estimate(t, c.change), &sent))
			pages.options.Terms = func(url.Values, time.Time) (Pricing, error) { // the highest prices are those of the case
				return func(result []byte, _ bool) ([]byte, error) { return result, nil }, nil
			}
			at := asked(t, h, "/bid", c.body)
			if c.sent != "" && sent != c.sent {
				t.Errorf("the API was asked %s", sent)
			}
			shows(t, h, at, c.want...)
			shows(t, h, partOf(at, "", "sw"), "Onyesha gharama yote")
		})
	}
	_, h := served(t, saying(nil, nil))
	for _, target := range []string{"", "no", "-1", "1e9", "0"} {
		w := post(h, "/bid", "u=https://cars.example/1&target="+target, http.Header{})
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `value="https://cars.example/1"`) ||
			!strings.Contains(w.Body.String(), "between 1,000,000") {
			t.Errorf("%q: %d\n%s", target, w.Code, w.Body)
		}
	}
}

func TestATokenHasOneAddress(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, nil))
	token := strings.TrimPrefix(ask(t, h, "u=https://cars.example/1"), "/e/")
	for _, path := range []string{"/c/" + token, "/s/" + token, "/bid/" + token, "/s/" + token + "/map.svg", "/bid/" + token + "/choose"} {
		if w := get(h, path, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
		if strings.Contains(LoggedPath(path), token) {
			t.Errorf("the log has %s", LoggedPath(path))
		}
	}
	for _, path := range []string{"/c/1", "/s/", "/bid/1/choose", "/c/AAAAAAAAAAAAAAAAAAAAAAAAAA/choose"} {
		if w := get(h, path, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// formFile is the form of a file.
func formFile(t *testing.T, file []byte) (body []byte, contentType string) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "sheet.jpg")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return form.Bytes(), w.FormDataContentType()
}

func sendFile(t *testing.T, h http.Handler, path, cookie string, file []byte) *httptest.ResponseRecorder {
	t.Helper()
	body, contentType := formFile(t, file)
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	r.Header = http.Header{"Content-Type": {contentType}, "Cookie": {cookie}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestASheetIsReadFromALinkAndFromAFile(t *testing.T) {
	t.Parallel()
	var got []byte
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		if file, _, err := r.FormFile("file"); err == nil {
			got, _ = io.ReadAll(file)
		}
		_ = json.NewEncoder(w).Encode(reading(t))
	})
	link := asked(t, h, "/s", "u=https://cars.example/sheet.jpg")
	file := sendFile(t, h, "/s", "", []byte("a photo")).Header().Get("Location")
	if string(got) != "a photo" || file == link {
		t.Errorf("the API got %q; %s, %s", got, file, link)
	}
	for _, at := range []string{link, file} {
		body := shows(t, h, partOf(at, "", "en"), "At a glance", "Condition outside", "What to ask before paying", "/map.svg?lang=en", `lang="ja"`)
		if sections := strings.Count(body, "<details"); sections != 9 {
			t.Errorf("%d parts to fold, want eight sections and the message", sections)
		}
		shows(t, h, partOf(at, "", "sw"), "Kwa muhtasari", "Hali ya nje", "/map.svg?lang=sw")
		drawing := get(h, at+"/map.svg?lang=sw", nil)
		if drawing.Code != http.StatusOK || !strings.HasPrefix(drawing.Body.String(), "<svg") ||
			!strings.Contains(drawing.Header().Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%d %v", drawing.Code, drawing.Header())
		}
	}
	if body := shows(t, h, link); !strings.Contains(body, `href="https://cars.example/sheet.jpg"`) {
		t.Errorf("no link to the sheet\n%s", body)
	}
}

// TestTheSheetStandsBesideItsMap shows the picture of a sheet from its site when the
// visitor asks for it. That of a file is not kept.
func TestTheSheetStandsBesideItsMap(t *testing.T) {
	t.Parallel()
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _, _ = r.FormFile("file")
		_ = json.NewEncoder(w).Encode(reading(t))
	})
	const sheet = "https://cars.example/sheet.jpg"
	for at, want := range map[string]bool{
		asked(t, h, "/s", "u="+sheet): true, asked(t, h, "/s", "u=https://cars.example/sheet.PDF"): false,
		sendFile(t, h, "/s", "", []byte("a photo")).Header().Get("Location"): false,
	} {
		const image = `src="` + sheet
		before, after := shows(t, h, at), shows(t, h, at+"?pictures=1")
		if strings.Contains(before, image) || strings.Contains(before, "Show the sheet") != want || strings.Contains(after, image) != want {
			t.Errorf("%s: %t\n%s", at, want, after)
		}
		policy := get(h, at+"?pictures=1", nil).Header().Get("Content-Security-Policy")
		if strings.Contains(policy, "img-src 'self' https: data:;") != want {
			t.Errorf("%s: got policy %s, want pictures of other sites allowed: %t", at, policy, want)
		}
	}
}

func TestASheetThatIsNoneIsRefusedInWords(t *testing.T) {
	t.Parallel()
	_, h := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 100)
		refusing(http.StatusRequestEntityTooLarge, `{"error":"The file is larger than 12 MB.","code":"sheet_too_large"}`)(w, r)
	})
	body, contentType := formFile(t, make([]byte, 1<<20))
	rest := bytes.NewReader(body)
	r := httptest.NewRequest(http.MethodPost, "/s", rest)
	r.Header = http.Header{"Content-Type": {contentType}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "larger than 12 MB") || rest.Len() != 0 {
		t.Errorf("%d, %d bytes were left\n%s", w.Code, rest.Len(), w.Body)
	}
	if w := post(h, "/s", "u=+", http.Header{}); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "link of the sheet") {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
}

func TestEntriesShowTheCostOnTheRoad(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, func(e *vehicle.Estimate) { e.Matched.ModelBody = "PASSO - M700A" }))
	pages.options.Costs = func(_ context.Context, _ vehicle.Car, labels []string, _ url.Values, _ time.Time) (map[string]vehicle.Estimate, error) {
		sum := func(tzs int64) *vehicle.Sum { return &vehicle.Sum{TZS: tzs} }
		return map[string]vehicle.Estimate{
			labels[0]: {Summary: &vehicle.Summary{OnTheRoad: sum(30_000_000)}}, labels[1]: {Summary: &vehicle.Summary{PortAndTaxesOnly: sum(12_000_000)}},
		}, nil
	}
	at := ask(t, h, "u=https://cars.example/1")
	body := shows(t, h, partOf(at, "/choose", "en"), "TSh 30 million on the road", "TSh 12 million without car and ship", "between TSh 12 million and TSh 30 million",
		`class="dot" x="976"`, `class="dot" x="0"`)
	if strings.Count(body, `class="dot"`) != 2 {
		t.Errorf("dots\n%s", body)
	}
	if entries := strings.Split(body, `type="radio"`); len(entries) != 3 || !strings.Contains(entries[1], " checked") {
		t.Errorf("the entry that was used is not the first\n%s", body)
	}
}

// hostile is markup wherever it is not escaped.
const hostile = `"><script>window.HIT=1</script><img src=x onerror=alert(1)>' onmouseover='x'{{.}}javascript:alert(1)`

// spoil replaces every text of a value of JSON but for the keys and the words that the
// pages choose a template by.
func spoil(value any, key string) any {
	switch v := value.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil || regexp.MustCompile(`^[0-9.,-]*$`).MatchString(v) {
			return v
		}
		switch key {
		case "code", "confidence", "level", "standing", "reason", "lang", "panel", "side", "severity", "id", "overall", "status", "area",
			"source", "group", "flag", "unit", "kind", "basis", "used":
			return v
		}
		return hostile
	case []any:
		for i := range v {
			v[i] = spoil(v[i], key)
		}
	case map[string]any:
		for name := range maps.Keys(v) {
			v[name] = spoil(v[name], name)
		}
	}
	return value
}

// spoiled returns a result with hostile texts in all fields.
func spoiled(t *testing.T, result any) any {
	t.Helper()
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return spoil(value, "")
}

// anyListing stands for the listing that is asked for.
const anyListing = "https://cars.example/any"

// saysHostile is an API whose results have hostile texts.
func saysHostile(result string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			URL string `json:"url"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		_, _ = io.WriteString(w, strings.Replace(result, anyListing, asked.URL, 1))
	}
}

// hostilePages are results with hostile texts in all fields, by the form that asks for
// them.
func hostilePages(t *testing.T) map[string]struct{ api, body string } {
	t.Helper()
	n := int64(5000)
	limits := &vehicle.PriceLimits{Low: &n, Likely: &n, High: &n}
	bid := estimate(t, func(e *vehicle.Estimate) {
		e.MaxPrice = &vehicle.MaxPrice{TargetTZS: 40_000_000, FOB: limits, CF: limits}
	})
	pages := map[string]struct{ api, body string }{}
	for path, c := range map[string]struct {
		result any
		body   string
	}{
		"/c": {estimate(t, nil), "u1=https://cars.example/1&u2=https://cars.example/2"},
		"/s": {reading(t), "u=https://cars.example/1.jpg"}, "/bid": {bid, "u=https://cars.example/1&target=40000000"},
	} {
		result := spoiled(t, c.result)
		if path == "/c" { // of two listings
			result.(map[string]any)["input"] = map[string]any{"url": anyListing}
		}
		data, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		pages[path] = struct{ api, body string }{string(data), c.body}
	}
	return pages
}

func TestHostileTextsAreNeverMarkup(t *testing.T) {
	t.Parallel()
	for path, c := range hostilePages(t) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			_, h := served(t, saysHostile(c.api))
			at := asked(t, h, path, c.body)
			for _, lang := range []string{"en", "sw"} {
				body := shows(t, h, partOf(at, "", lang), "&lt;script&gt;")
				if found := regexp.MustCompile(`<script>|<img src=x|' onmouseover='|href="javascript:|action="javascript:`).FindString(body); found != "" {
					t.Errorf("%s in %s has %q\n%s", at, lang, found, body)
				}
			}
		})
	}
}

// TestHostileTextsInChromium opens the same pages, and the drawing of a sheet as a page of
// its own: nothing of the texts runs, and nothing is asked of another host.
func TestHostileTextsInChromium(t *testing.T) {
	testenv.Long(t)
	tab := browsertest.Open(t)
	tab.View(360, "light")
	pages := hostilePages(t)
	for path, c := range pages {
		_, h := served(t, saysHostile(c.api))
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		addresses := []string{asked(t, h, path, c.body)}
		if path == "/s" {
			addresses = append(addresses, addresses[0]+"/map.svg")
		}
		for _, at := range addresses {
			tab.Run(chromedp.Navigate(server.URL + at))
			tab.Await(`document.readyState === "complete"`)
			if ran := tab.Text("window.HIT"); ran != "undefined" {
				t.Errorf("%s: a text of the page has run", at)
			}
			tab.Check(server.URL)
		}
	}
}

// A buyer reads the name of the car in Latin letters, as far as it is known.
func TestTheNameOnASheetIsInLatinLetters(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"カローラアクシオ": "COROLLA AXIO", "PRIUS S": "PRIUS S", "未知 カローラ": "未知 COROLLA",
	} {
		report := &sheet.Report{}
		report.Vehicle.NameJP = &written
		if got := sheetName(report); got != want {
			t.Errorf("%s is %q, want %q", written, got, want)
		}
	}
}
