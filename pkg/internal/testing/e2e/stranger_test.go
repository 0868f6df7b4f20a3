package e2e

import (
	"encoding/json"
	"net/http"
	"testing"

	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
)

// as sends the requests that follow with another key.
func (s *stack) as(name string) *stack {
	s.t.Helper()
	other := *s
	var err error
	other.key, _, err = keys.NewStore(s.conn.Client()).Create(s.t.Context(), name)
	must(s.t, err)
	return &other
}

// A page can name any sheet. What it says is in no report but of those who named
// the page themselves, and no one learns the URL of another's listing.
func TestAStrangersListingIsNotInMyReport(t *testing.T) {
	t.Parallel()
	mine := newStack(t, embeddedRedis(t))
	mine.workWithAI()
	stranger, third := mine.as("stranger"), mine.as("third")
	sheet := mine.site + listingtest.Cars()[axio].Sheet()
	theirs := stranger.post(mine.car(axio) + "?of=stranger").estimate(t).Input.URL
	if got := mine.read(sheet, "en").report(t); got.Listing != "" || got.Mismatches != nil {
		t.Errorf("a stranger's listing is in my report: %q, %v", got.Listing, got.Mismatches)
	}
	own := mine.post(mine.car(axio) + "?token=mine").estimate(t).Input.URL
	for _, c := range []struct {
		caller *stack
		want   string
	}{{mine, own}, {stranger, theirs}, {third, ""}} {
		if got := c.caller.read(sheet, "en").report(t).Listing; got != c.want {
			t.Errorf("the report of a caller names the listing %q, want %q", got, c.want)
		}
	}
	// To name a listing that another has named before is to name it.
	mine.expireJoinGrace()
	if again := third.post(theirs).estimate(t); !again.Cached {
		t.Error("a listing without a token was not shared")
	}
	if got := third.read(sheet, "en").report(t).Listing; got != theirs {
		t.Errorf("the report names %q, want the listing that the caller named", got)
	}
}

// The job of one caller that another joins names the listing for both.
func TestJoinedListingIsNamedByBoth(t *testing.T) {
	t.Parallel()
	mine := newStack(t, embeddedRedis(t))
	other := mine.as("other")
	first, joined := mine.submit(mine.car(axio)), other.submit(mine.car(axio))
	if first != joined {
		t.Fatalf("two jobs: %s and %s", first, joined)
	}
	mine.workWithAI()
	mine.job(first, ended)
	mine.expireJoinGrace()
	sheet := mine.site + listingtest.Cars()[axio].Sheet()
	for _, caller := range []*stack{mine, other} {
		if got := caller.read(sheet, "en").report(t).Listing; got != mine.car(axio) {
			t.Errorf("the report names the listing %q", got)
		}
	}
}

// What a token lets one caller read, or a page that one caller sent, is read again
// for another caller with the same URL.
func TestTokensAndPagesAreNotShared(t *testing.T) { //nolint:tparallel // its cases change what one stack remembers
	t.Parallel()
	mine := newStack(t, embeddedRedis(t))
	mine.workWithAI()
	other := mine.as("other")
	token := mine.car(0) + "?session=abc"
	page := mine.page(mine.car(0))
	job := mine.submit(mine.car(0) + "?sid=1")
	for path, want := range map[string]int{"": http.StatusNotFound, "/events": http.StatusNotFound} {
		if got := other.do(http.MethodGet, "/v1/jobs/"+job+path, nil); got.status != want {
			t.Errorf("another's job%s: %d %s", path, got.status, got.body)
		}
	}
	if got := mine.do(http.MethodGet, "/v1/jobs/"+job, nil); got.status != http.StatusOK {
		t.Errorf("my own job: %d %s", got.status, got.body)
	}
	for name, ask := range map[string]func(*stack) answer{
		"token": func(s *stack) answer { return s.post(token) },
		"page": func(s *stack) answer {
			return s.ask(asked{URL: "https://cars.example.com/used/1", HTML: page})
		},
		"comparison": func(s *stack) answer {
			return s.do(http.MethodPost, "/v1/compare", map[string]string{"url1": token + "d", "url2": s.car(axio)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantCached := func(s *stack, want bool) {
				t.Helper()
				mine.expireJoinGrace()
				var body struct {
					Cached bool `json:"cached"`
				}
				got := ask(s)
				if got.status != http.StatusOK || json.Unmarshal(got.body, &body) != nil || body.Cached != want {
					t.Errorf("status %d, cached %v, want %v: %.300s", got.status, body.Cached, want, got.body)
				}
			}
			wantCached(mine, false)
			wantCached(mine, true)
			wantCached(other, false)
			wantCached(other, true)
			wantCached(mine, true)
		})
	}
}
