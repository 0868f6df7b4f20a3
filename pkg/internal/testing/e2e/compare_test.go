package e2e

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/app"
	"ushuru/pkg/testenv"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Demo cars by their place in listingtest.Cars.
const (
	axio  = 0 // has an inspection sheet
	passo = 1 // has one too
	leaf  = 3 // has none
	roomy = 4 // has none
)

// workWithAI starts all workers with a SIMULATED AI. It keeps no answers, so
// that what is asked of it twice is counted twice.
func (s *stack) workWithAI() *aitest.Server {
	s.t.Helper()
	model := aitest.Start(s.t, aitest.Options{})
	options := s.workerOptions(tasks.Roles...)
	options.AI = oneAI(model.URL, "sk-test")
	options.AI.Timeout, options.AI.DailyTokens, options.AI.AnswerTTL = 20*time.Second, 0, 0
	s.start(app.Options{Worker: options})
	return model
}

// pair is the body of POST /v1/compare.
type pair struct {
	URL1 string `json:"url1"`
	URL2 string `json:"url2"`
	Rate int    `json:"rate,omitempty"`
	Lang string `json:"lang,omitempty"`
}

func (s *stack) compare(p pair) vehicle.Comparison {
	s.t.Helper()
	got := s.do(http.MethodPost, "/v1/compare", p)
	var c vehicle.Comparison
	if got.status != http.StatusOK || json.Unmarshal(got.body, &c) != nil || c.Verdict == nil || c.Recommendation == "" {
		s.t.Fatalf("%+v: status %d: %s", p, got.status, got.body)
	}
	return c
}

func warned(list []vehicle.Warning, code string) bool {
	for _, w := range list {
		if w.Code == code {
			return true
		}
	}
	return false
}

// decided is all of a comparison that no AI may change, as JSON.
func decided(t *testing.T, c vehicle.Comparison) string {
	t.Helper()
	for _, car := range []*vehicle.Estimate{&c.Car1, &c.Car2} {
		car.Cached = false
		if drive := car.DriveAway; drive != nil {
			dateless := *drive
			dateless.AsOf = ""
			car.DriveAway = &dateless
		}
	}
	data, err := json.Marshal([]any{c.Verdict, c.Car1, c.Car2, c.CondReport1, c.CondReport2, c.Rate})
	must(t, err)
	return string(data)
}

// expireJoinGrace makes the next caller start a job instead of joining one that
// succeeded less than the grace period ago.
func (s *stack) expireJoinGrace() {
	s.t.Helper()
	keys, err := s.conn.Client().Keys(s.t.Context(), "dedup:*").Result()
	must(s.t, err)
	for _, key := range keys {
		must(s.t, s.conn.Client().Del(s.t.Context(), key).Err())
	}
}

// winnerOf is 1 or 2, or 0 without a winner.
func winnerOf(c vehicle.Comparison) int {
	if c.Verdict.Winner == nil {
		return 0
	}
	return *c.Verdict.Winner
}

var anyNumber = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// strangeNumbers are the numbers of a recommendation that stand nowhere else in
// the answer. Counts and the numbers of the cars have one digit.
func strangeNumbers(t *testing.T, c vehicle.Comparison) (strange []string) {
	t.Helper()
	text := c.Recommendation
	c.Recommendation = ""
	data, err := json.Marshal(c)
	must(t, err)
	plain := func(n string) string { return strings.ReplaceAll(n, ",", "") }
	known := map[string]bool{}
	for _, n := range anyNumber.FindAllString(string(data), -1) {
		known[plain(n)] = true
		if whole, err := decimal.NewFromString(plain(n)); err == nil {
			known[whole.Round(0).String()], known[whole.Round(-1).String()] = true, true // as people say them
			for places := range int32(3) {
				known[whole.Shift(-6).Round(places).String()] = true
			}
		}
		for part := range strings.SplitSeq(n, ",") { // 1,2 may be a list
			known[part] = true
		}
	}
	for _, n := range anyNumber.FindAllString(text, -1) {
		if n = strings.TrimRight(n, ","); len(n) > 1 && !known[plain(n)] {
			strange = append(strange, n)
		}
	}
	return strange
}

func TestTwoCarsAreComparedWithTheAI(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	model := s.workWithAI()
	asked := pair{URL1: s.car(axio), URL2: s.car(passo)}
	first := s.compare(asked)
	if first.Cached || first.CondReport1 == nil || first.CondReport2 == nil || first.Lang != "en" {
		t.Fatalf("%+v", first)
	}
	if strange := strangeNumbers(t, first); strange != nil {
		t.Errorf("numbers from nowhere %v in\n%s", strange, first.Recommendation)
	}
	calculations, questions := s.authority.Count("getVehicleDetails"), model.Counts().Requests
	if calculations != 2 {
		t.Errorf("%d calculations for two cars", calculations)
	}

	if again := s.compare(asked); !again.Cached || decided(t, again) != decided(t, first) || again.Recommendation != first.Recommendation {
		t.Errorf("the same pair again: %+v", again)
	}
	if n := model.Counts().Requests; n != questions {
		t.Errorf("a kept comparison asked the AI %d times", n-questions)
	}

	asked.Lang = "sw"
	swahili := s.compare(asked)
	if swahili.Cached || swahili.Lang != "sw" || *swahili.CondReport1 == *first.CondReport1 ||
		!strings.Contains(swahili.Recommendation, "Gari") || strings.Contains(swahili.Recommendation, "The difference") {
		t.Errorf("in Kiswahili: %+v", swahili)
	}
	for _, w := range swahili.Warnings {
		if regexp.MustCompile(`\b(the|of|and|is|An)\b`).MatchString(w.Message) {
			t.Errorf("English in a warning: %+v", w)
		}
	}
	if winnerOf(first) != winnerOf(swahili) || strangeNumbers(t, swahili) != nil {
		t.Errorf("the language changes the figures: %v in\n%s", strangeNumbers(t, swahili), swahili.Recommendation)
	}
	if n := model.Counts().Requests - questions; n != 0 {
		t.Errorf("another language asked the AI %d times, want never", n)
	}

	dearer := asked
	dearer.Rate, dearer.Lang = 3000, "en"
	other := s.compare(dearer)
	if !other.Cached ||
		other.Rate.String() != "3000" || first.Rate.String() == "3000" ||
		other.Car1.DriveAway.TotalTZS.String() == first.Car1.DriveAway.TotalTZS.String() || strangeNumbers(t, other) != nil {
		t.Errorf("at another rate: %+v", other)
	}
	if back := s.compare(pair{URL1: asked.URL1, URL2: asked.URL2}); decided(t, back) != decided(t, first) {
		t.Error("at the first rate again the figures are others")
	}

	swapped := s.compare(pair{URL1: asked.URL2, URL2: asked.URL1})
	mirror := []int{0, 2, 1}
	if swapped.Cached || swapped.Car1.Input.URL != first.Car2.Input.URL || winnerOf(swapped) != mirror[winnerOf(first)] ||
		swapped.Verdict.Points1 != first.Verdict.Points2 {
		t.Errorf("swapped: %+v", swapped.Verdict)
	}
	if n := s.authority.Count("getVehicleDetails"); n != calculations {
		t.Errorf("%d calculations more", n-calculations)
	}

	mixed := s.compare(pair{URL1: s.car(leaf), URL2: s.car(axio)})
	if mixed.CondReport1 != nil || mixed.CondReport2 == nil || warned(mixed.Warnings, "sheet_not_read") {
		t.Errorf("one sheet of two: %+v", mixed)
	}
}

func TestTwoCarsAreComparedWithoutAnAI(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	s.work(tasks.Roles...)
	for _, lang := range []string{"en", "sw"} {
		asked := pair{URL1: s.car(leaf), URL2: s.car(roomy), Lang: lang}
		first := s.compare(asked)
		if first.Cached || first.CondReport1 != nil || first.CondReport2 != nil ||
			strangeNumbers(t, first) != nil {
			t.Errorf("%s: %v, %+v", lang, strangeNumbers(t, first), first)
		}
		if again := s.compare(asked); !again.Cached || again.Recommendation != first.Recommendation {
			t.Errorf("%s: again: %+v", lang, again)
		}
	}
	unread := pair{URL1: s.car(axio), URL2: s.car(leaf)}
	for range 2 { // an AI may be configured tomorrow, so this is not cached
		s.expireJoinGrace()
		if got := s.compare(unread); got.Cached || got.CondReport1 != nil || !warned(got.Warnings, "sheet_not_read") {
			t.Errorf("a sheet without an AI to read it: %+v", got)
		}
	}
	unread.Lang = "sw"
	if got := s.compare(unread); len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, "haikuweza kusomwa (no_ai)") {
		t.Errorf("in Kiswahili: %+v", got.Warnings)
	}
	for _, gone := range []struct {
		pair
		says string
	}{
		{pair{URL1: s.car(axio), URL2: s.site + "/gone"}, "Car 2 (" + s.site + "/gone)"},
		{pair{URL1: s.site + "/gone", URL2: s.car(axio)}, "Car 1 (" + s.site + "/gone)"},
	} {
		var failure vehicle.Error
		got := s.do(http.MethodPost, "/v1/compare", gone.pair)
		if err := json.Unmarshal(got.body, &failure); err != nil || got.status != http.StatusInternalServerError ||
			failure.Code != "listing_gone" || !strings.HasPrefix(failure.Message, gone.says) {
			t.Errorf("%d %s, want 500 of %s", got.status, got.body, gone.says)
		}
	}
}

// What a program can see to be misread of a sheet does not count for or against
// a car; its money never depends on a sheet.
func TestAMisreadSheetMovesNoMoney(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for _, misread := range []struct {
		name   string
		faults aitest.Faults
		read   bool // there is a summary all the same
		counts bool // nothing of the sheet itself is misread
	}{
		{"impossible values", aitest.Faults{InventValue: true}, true, false},
		{"other digits at the second look", aitest.Faults{OtherDigits: true}, true, false},
		{"an answer of another schema", aitest.Faults{OtherSchema: true}, false, false},
		{"a property that nobody asked for", aitest.Faults{InventField: true}, true, true},
	} {
		s := newStack(t, embeddedRedis(t))
		s.workWithAI().SetFaults(misread.faults)
		got := s.compare(pair{URL1: s.car(axio), URL2: s.car(passo)})
		for _, c := range got.Verdict.Criteria {
			if c.Code == "condition" && ((c.Car1 != nil) != misread.counts || (c.Car2 != nil) != misread.counts) {
				t.Errorf("%s: counts, want %v: %+v", misread.name, misread.counts, c)
			}
		}
		if read := got.CondReport1 != nil && got.CondReport2 != nil; read != misread.read || warned(got.Warnings, "sheet_not_read") == read {
			t.Errorf("%s: read %v, %+v", misread.name, read, got.Warnings)
		}
		cost1, cost2 := s.post(s.car(axio)).estimate(t).DriveAway, s.post(s.car(passo)).estimate(t).DriveAway
		if got.Car1.DriveAway.TotalTZS.String() != cost1.TotalTZS.String() || got.Car2.DriveAway.TotalTZS.String() != cost2.TotalTZS.String() ||
			*got.Verdict.Cheaper != 2 || strangeNumbers(t, got) != nil {
			t.Errorf("%s: %+v, strange numbers %v", misread.name, got.Verdict, strangeNumbers(t, got))
		}
	}
}
