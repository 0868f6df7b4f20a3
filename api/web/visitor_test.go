package web

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/api/problem"
	"ushuru/api/web/visitor"
)

// working is an API that starts a job for every request, if it is admitted.
func working(started *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := Admit(r.Context()); err != nil {
			if why, ok := errors.AsType[*problem.Problem](err); ok {
				why.SetHeader(w.Header())
			}
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = fmt.Fprintf(w, `{"error":"","code":%q}`, errPuzzle.Code)
			return
		}
		w.Header().Set("Location", fmt.Sprintf("/v1/jobs/%d", started.Add(1)))
		w.WriteHeader(http.StatusAccepted)
	}
}

// cookieOf returns the cookie of a visitor who came some time ago.
func cookieOf(t *testing.T, p *Pages, name string, ago time.Duration) string {
	t.Helper()
	secret, err := p.visitors.Secret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return "v=" + visitor.NewCookie(secret, name, time.Now().Add(-ago))
}

func TestTheEleventhEstimateOfAnHourNeedsAPuzzle(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	pages, h := served(t, working(&started))
	cookie := cookieOf(t, pages, "ann", time.Minute)
	send := func(n int, more string) int {
		body := fmt.Sprintf("u=https://cars.example/%d%s", n, more)
		return post(h, "/go", body, http.Header{"Cookie": {cookie}}).Code
	}
	for n := range perHour {
		if code := send(n, ""); code != http.StatusSeeOther {
			t.Fatalf("estimate %d: %d", n+1, code)
		}
	}
	w := post(h, "/go", "u=https://cars.example/x&year=2019", http.Header{"Cookie": {cookie}})
	found := regexp.MustCompile(`data-puzzle="([^"]+)"`).FindStringSubmatch(w.Body.String())
	if w.Code != http.StatusOK || found == nil || started.Load() != perHour {
		t.Fatalf("%d, %d jobs\n%s", w.Code, started.Load(), w.Body)
	}
	if !strings.Contains(w.Body.String(), `name="year" value="2019"`) {
		t.Error("the puzzle has lost a field of the form")
	}
	if code := send(0, ""); code != http.StatusSeeOther {
		t.Errorf("the same request as before: %d", code)
	}

	solution := "&puzzle=" + found[1] + "&solution=" + solve(found[1])
	for name, c := range map[string]struct {
		more string
		want int
	}{
		"wrong solution":    {"&puzzle=" + found[1] + "&solution=x", http.StatusOK},
		"a puzzle of ours?": {"&puzzle=A." + strconv.FormatInt(time.Now().Unix()+600, 10) + ".00&solution=1", http.StatusOK},
	} {
		if code := send(100, c.more); code != c.want {
			t.Errorf("%s: %d", name, code)
		}
	}
	if code := send(101, solution); code != http.StatusSeeOther {
		t.Errorf("a solved puzzle: %d", code)
	}
	if code := send(102, solution); code != http.StatusOK {
		t.Errorf("a puzzle that was used: %d", code)
	}
	if other := cookieOf(t, pages, "ben", time.Minute); other != "" {
		if w := post(h, "/go", "u=https://cars.example/103", http.Header{"Cookie": {other}}); w.Code != http.StatusSeeOther {
			t.Errorf("another visitor: %d", w.Code)
		}
	}
}

// solve does what the browser does.
func solve(puzzle string) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(puzzle + strconv.Itoa(n)))
		if sum[0] == 0 && sum[1] == 0 {
			return strconv.Itoa(n)
		}
	}
}

func TestACookieThatIsNotOursCountsAsNone(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	pages, h := served(t, working(&started))
	good := cookieOf(t, pages, "ann", time.Minute)
	secret, _ := pages.visitors.Secret(t.Context())
	for name, cookie := range map[string]string{
		"none": "", "forged": "v=ann.1763800000.0123456789abcdef0123456789abcdef", "changed": strings.Replace(good, "ann", "bob", 1),
		"too young": cookieOf(t, pages, "eve", 0), "too old": cookieOf(t, pages, "old", 31*24*time.Hour),
		"a puzzle": "v=" + visitor.NewPuzzle(secret), "long": "v=" + strings.Repeat("a.", 500),
	} {
		w := post(h, "/go", "u=https://cars.example/1", http.Header{"Cookie": {cookie}})
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "data-puzzle") {
			t.Errorf("%s: %d", name, w.Code)
		}
		// Who presses the button once more, without JavaScript, has a cookie then.
		if given := strings.HasPrefix(w.Header().Get("Set-Cookie"), "v="); given != (name != "too young") {
			t.Errorf("%s: a new cookie: %v", name, given)
		}
	}
	if started.Load() != 0 {
		t.Errorf("%d jobs", started.Load())
	}
	w := get(h, "/", http.Header{})
	if set := w.Header().Get("Set-Cookie"); !strings.HasPrefix(set, "v=") || !strings.Contains(set, "HttpOnly") ||
		!strings.Contains(set, "SameSite=Lax") {
		t.Errorf("cookie %q", set)
	}
	if w := get(h, "/", http.Header{"Cookie": {good}}); w.Header().Get("Set-Cookie") != "" {
		t.Error("a valid cookie was replaced")
	}
}

func TestANetworkIsLimitedLoosely(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	pages, h := served(t, working(&started))
	for n := range perNetworkHour + 5 {
		cookie := cookieOf(t, pages, fmt.Sprint("visitor", n), time.Minute)
		post(h, "/go", fmt.Sprintf("u=https://cars.example/%d", n), http.Header{"Cookie": {cookie}})
	}
	if started.Load() != perNetworkHour {
		t.Errorf("%d jobs of one network, want %d", started.Load(), perNetworkHour)
	}
	keys, err := pages.options.Redis.Keys(t.Context(), "page:count:hour:*").Result()
	if err != nil || len(keys) != perNetworkHour {
		t.Errorf("%d counters of visitors, %v", len(keys), err)
	}
}

func TestLinksToOneCarShareAPage(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, nil))
	first := ask(t, h, "u=https://cars.example/1")
	for n := range 5 {
		if at := ask(t, h, fmt.Sprintf("u=https://cars.example/1?utm_source=%d", n)); at != first {
			t.Errorf("another page: %s", at)
		}
	}
	keys, err := pages.options.Redis.Keys(t.Context(), "page:link:*").Result()
	if err != nil || len(keys) != 1 {
		t.Errorf("%d links, %v", len(keys), err)
	}
}

func TestWorkOfTheAIIsLimitedApart(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	pages, _ := served(t, working(&started))
	for _, path := range worksWithAI {
		r := httptest.NewRequest(http.MethodPost, "/s", http.NoBody)
		r.Header.Set("Cookie", cookieOf(t, pages, path[len("/v1/"):], time.Minute))
		for n := range perHourAI {
			if err := pages.admit(r, path)(t.Context()); err != nil {
				t.Fatalf("%s, request %d: %v", path, n+1, err)
			}
		}
		var why *problem.Problem
		err := pages.admit(r, path)(t.Context())
		if !errors.As(err, &why) || why.Code != errPuzzle.Code || why.RetryAfter <= 0 || why.RetryAfter > time.Hour {
			t.Errorf("%s, request %d: %v", path, perHourAI+1, err)
		}
		if err := pages.admit(r, "/v1/estimate")(t.Context()); err != nil {
			t.Errorf("an estimate after %s: %v", path, err)
		}
	}
}

func TestThePuzzleSaysWhenNoneIsNeeded(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	pages, h := served(t, working(&started))
	young := cookieOf(t, pages, "eve", 0)
	if w := post(h, "/go", "u=https://cars.example/1", http.Header{"Cookie": {young}}); !strings.Contains(w.Body.String(), "once more") {
		t.Errorf("no word for a form that was sent at once\n%s", w.Body)
	}
	ann := cookieOf(t, pages, "ann", time.Minute)
	for n := range perHour {
		post(h, "/go", fmt.Sprintf("u=https://cars.example/%d", n), http.Header{"Cookie": {ann}})
	}
	w := post(h, "/go", "u=https://cars.example/x", http.Header{"Cookie": {ann}})
	if !regexp.MustCompile(`try again in [1-9][0-9]* min`).MatchString(w.Body.String()) {
		t.Errorf("no time\n%s", w.Body)
	}
}
