package await

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx/redistest"
	"ushuru/tasks"
)

// newLimits returns the limits of one API process, on an empty Redis.
func newLimits(t *testing.T, of pace.Limits) *Limits {
	t.Helper()
	client := redistest.Embedded(t).Client()
	return NewLimits(LimitOptions{
		Rates: pace.NewRates(client), Processor: pace.NewProcessor(2), Bytes: pace.NewAccounts(client, pace.KindBytes), Rows: pace.NewAccounts(client, pace.KindRows),
		Jobs: jobs.NewStore(client), Batches: batch.NewStore(client),
		Limits: of, WaitMax: time.Second,
	})
}

// ask is a request of a key with limits of its own.
func ask(t *testing.T, own pace.Limits) (*httptest.ResponseRecorder, *request.Request) {
	t.Helper()
	r := request.From(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody))
	r.Key = keys.Key{ID: "key", Limits: own}
	return httptest.NewRecorder(), r
}

// codeOf returns the code of a problem, "" of none.
func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return request.ProblemOf(err).Code
}

func TestARequestCountsOnceAgainstTheRate(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{PerMinute: 2})
	for i, want := range []string{"", "", "rate_limited"} {
		w, r := ask(t, pace.Limits{})
		for range 3 { // by several that check it
			err := l.CheckRate(w, r)
			if codeOf(err) != want {
				t.Fatalf("request %d: got %v, want %q", i, err, want)
			}
			if p, ok := errors.AsType[*problem.Problem](err); ok {
				if p.RetryAfter < time.Second {
					t.Errorf("Retry-After is %v", p.RetryAfter)
				}
				break
			}
		}
		if got := w.Header().Get("Ratelimit-Policy"); got != `"minute";q=2;w=60` {
			t.Errorf("request %d: Ratelimit-Policy is %q", i, got)
		}
		if got := w.Header().Get("Ratelimit-Limit"); got != "2" {
			t.Errorf("request %d: Ratelimit-Limit is %q", i, got)
		}
	}
	if _, r := ask(t, pace.Limits{PerMinute: 100}); l.CheckRate(httptest.NewRecorder(), r) != nil {
		t.Error("a key with a limit of its own was refused by another")
	}
}

func TestWithoutALimitNothingIsCounted(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{})
	w, r := ask(t, pace.Limits{})
	err := l.CheckRate(w, r)
	taken, errTaken := l.takeJob(w, r, Wanted{Kind: tasks.KindQuote, Input: "one"})
	want := http.Header{"Key-Bytes": {fmt.Sprintf("used=%d", jobs.RecordBytes)}}
	if err != nil || errTaken != nil || taken.place != "" || !reflect.DeepEqual(w.Header(), want) {
		t.Errorf("got %v, %v, the place %q and the headers %v, want no place and %v", err, errTaken, taken.place, w.Header(), want)
	}
	if err := l.settle(r, taken, &jobs.Job{ID: "1", State: jobs.Running}); err != nil {
		t.Error(err)
	}
}

// TestVisitorsCountByTheirNetwork: nobody is refused for what the visitors of others ask.
func TestVisitorsCountByTheirNetwork(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{PerMinute: 1, Jobs: 1, Bytes: 1000})
	visit := func(network string) error {
		w, r := ask(t, pace.Limits{})
		r.Key.ID, r.Network = pace.Anonymous, network
		return l.Take(w, r, pace.Kept{Size: 900, TTL: time.Hour})
	}
	for _, network := range []string{"192.0.2.0", "198.51.100.0"} {
		if err := visit(network); err != nil {
			t.Errorf("the first request of %s: %v", network, err)
		}
		if err := visit(network); codeOf(err) != "rate_limited" {
			t.Errorf("the second request of %s: got %v, want rate_limited", network, err)
		}
	}
}

func TestRunningJobsOfAKey(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{Jobs: 2, Bytes: 10 * jobs.RecordBytes})
	w, r := ask(t, pace.Limits{})
	reserve := func(what string, size int, code string) takenJob {
		t.Helper()
		taken, err := l.takeJob(w, r, Wanted{Kind: tasks.KindReport, Input: what, Attachment: make([]byte, size)})
		if codeOf(err) != code {
			t.Errorf("%s: got %v, want %q", what, err, code)
		}
		if err != nil {
			err = l.settle(r, taken, nil)
		}
		if err != nil {
			t.Error(err)
		}
		return taken
	}
	first := reserve("the first", 0, "")
	if err := l.settle(r, first, &jobs.Job{ID: "1", State: jobs.Running}); err != nil {
		t.Fatal(err)
	}
	reserve("too many bytes", 10*jobs.RecordBytes, "too_many_bytes")
	reserve("the second", 0, "")
	reserve("when the first has ended", 0, "") // its record is gone
	reserve("the third", 0, "too_many_jobs")
}

// TestWhatAJobDoesNotNeedIsGivenBack: what the caller sent for a job that another has begun, or that
// has ended, and all of a job that is not made.
func TestWhatAJobDoesNotNeedIsGivenBack(t *testing.T) {
	t.Parallel()
	const page = 1000
	record, sent := int64(jobs.RecordBytes), int64(page+pace.EntryOverhead)
	for _, c := range []struct {
		name string
		job  *jobs.Job
		want int64
	}{
		{"its own", &jobs.Job{ID: "1", State: jobs.Running, Owner: "key"}, record + sent},
		{"of another", &jobs.Job{ID: "1", State: jobs.Running, Owner: "other"}, record},
		{"ended", &jobs.Job{ID: "1", State: jobs.Failed, Owner: "key"}, record},
		{"none", nil, 0},
	} {
		l := newLimits(t, pace.Limits{Jobs: 1})
		w, r := ask(t, pace.Limits{})
		taken, err := l.takeJob(w, r, Wanted{Kind: tasks.KindEstimate, Input: c.name, Attachment: make([]byte, page)})
		if err == nil {
			err = l.settle(r, taken, c.job)
		}
		account, errRead := l.options.Bytes.Read(t.Context(), pace.Holder{Whole: "key"})
		if err != nil || errRead != nil || account.Used != c.want {
			t.Errorf("%s: got %d bytes, %v, %v, want %d", c.name, account.Used, err, errRead, c.want)
		}
		if _, err := l.takeJob(w, r, Wanted{Kind: tasks.KindEstimate, Input: "next"}); err != nil {
			t.Errorf("%s: the next job: got %v, want its place", c.name, err) // that of the first has no record, or has ended
		}
	}
}

func TestBytesOfAKey(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{Bytes: 1000})
	for i, c := range []struct {
		size         int64
		code, header string
	}{{600, "", "used=600, limit=1000"}, {600, "too_many_bytes", "used=600, limit=1000"}, {1001, "too_many_bytes", "used=600, limit=1000"}} {
		w, r := ask(t, pace.Limits{})
		err := l.Take(w, r, pace.Kept{Size: c.size, TTL: time.Hour})
		if codeOf(err) != c.code || w.Header().Get("Key-Bytes") != c.header {
			t.Errorf("%d: got %v, %q; want %s, %q", i, err, w.Header().Get("Key-Bytes"), c.code, c.header)
		}
		if p, ok := errors.AsType[*problem.Problem](err); ok {
			if want := map[bool]int{true: http.StatusRequestEntityTooLarge, false: http.StatusTooManyRequests}[c.size > 1000]; p.Status != want {
				t.Errorf("%d bytes: status %d, want %d", c.size, p.Status, want)
			}
		}
	}
	_, r := ask(t, pace.Limits{})
	page := pace.Kept{Name: "page", Size: 400, TTL: time.Hour}
	if err := l.Take(httptest.NewRecorder(), r, page); err != nil {
		t.Fatal(err)
	}
	if err := l.GiveBack(r, page); err != nil {
		t.Fatal(err)
	}
	if err := l.Take(httptest.NewRecorder(), r, pace.Kept{Size: 400, TTL: time.Hour}); err != nil {
		t.Errorf("what is not kept any more counts: %v", err)
	}
}

func TestRowsOfABatch(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{BatchItems: 3, Bytes: 100 << 10})
	w, r := ask(t, pace.Limits{})
	leave, err := l.TakeRows(w, r, 3, pace.Kept{Size: 10, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	_, other := ask(t, pace.Limits{})
	if _, err := l.TakeRows(httptest.NewRecorder(), other, 1); codeOf(err) != "too_many_batch_items" {
		t.Errorf("rows that are reserved: got %v, want that they count", err)
	}
	leave()
	if _, err := l.TakeRows(w, r, 4); codeOf(err) != "batch_too_large" {
		t.Errorf("more rows than ever: got %v", err)
	}
	if _, err := l.options.Batches.Create(t.Context(), batch.New{
		ID: batch.NewID(), Owner: "key", Rows: []batch.Row{{Number: 1, URL: "https://cars.example/1"}, {Number: 2, URL: "https://cars.example/2"}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.TakeRows(w, r, 2); codeOf(err) != "too_many_batch_items" {
		t.Errorf("more rows than with those that wait: got %v", err)
	}
	if _, err := l.TakeRows(w, r, 1); err != nil {
		t.Errorf("one more: %v", err)
	}
}

// TestARefusedListSaysWhatFits: all that its rows will keep is reserved, and what is left is said.
func TestARefusedListSaysWhatFits(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{})
	for _, c := range []struct {
		rows, status int
		says         []string
	}{
		{5000, 413, []string{"4.9 MB", "3.0 MB in all", "3072 such rows"}},
		{2048, 0, nil},
		{1025, 429, []string{"1.1 MB", "1.0 MB of its 3.0 MB", "1024 rows fit now"}},
		{1024, 0, nil},
	} {
		_, r := ask(t, pace.Limits{Bytes: 3 << 20})
		list := pace.Kept{Name: "batch:1" + strconv.Itoa(c.rows), Size: int64(c.rows) << 10, TTL: time.Hour}
		_, err := l.TakeRows(httptest.NewRecorder(), r, c.rows, list)
		p, refused := errors.AsType[*problem.Problem](err)
		if refused != (c.status != 0) || refused && (p.Status != c.status || p.Code != "too_many_bytes") {
			t.Fatalf("%d rows: got %v, want %d", c.rows, err, c.status)
		}
		for _, want := range c.says {
			if !strings.Contains(p.Message, want) {
				t.Errorf("%d rows: got %q, want %q", c.rows, p.Message, want)
			}
		}
	}
}

func TestTokensOfTheAI(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{AITokens: 1000})
	var used int64
	l.options.AIUsage = func(_ context.Context, key string) (int64, time.Time, error) {
		if key != "key" {
			return 0, time.Time{}, fmt.Errorf("the usage of %s: %w", key, io.ErrUnexpectedEOF)
		}
		return used, time.Now().Add(time.Hour), nil
	}
	next := request.Handler(func(http.ResponseWriter, *http.Request) error { return nil })
	for _, c := range []struct {
		used int64
		want string
	}{
		{0, "used=0, limit=1000, reset=3600"},
		{499, "used=499, limit=1000, reset=3600"},
		{500, "used=500, limit=1000, reset=3600, warning=50"},
		{799, "used=799, limit=1000, reset=3600, warning=50"},
		{800, "used=800, limit=1000, reset=3600, warning=80"},
		{1000, "used=1000, limit=1000, reset=3600, warning=80"},
	} {
		used = c.used
		w, r := ask(t, pace.Limits{})
		plain := r.WithContext(request.With(t.Context(), r))
		if err := l.WithAITokens(next)(w, plain); err != nil || w.Header().Get("Key-Ai-Tokens") != c.want {
			t.Errorf("got %q, %v, want %q", w.Header().Get("Key-Ai-Tokens"), err, c.want)
		}
	}
	w, r := ask(t, pace.Limits{})
	r.Key.ID = "other"
	if err := l.ShowAITokens(w, r); codeOf(err) != "unavailable" {
		t.Errorf("a usage that cannot be read: got %v", err)
	}
}

func TestAKeyHasSomePlacesForLists(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{})
	var taken []func()
	_, r := ask(t, pace.Limits{})
	for { // until one has to wait
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		r.Request = r.WithContext(ctx)
		release, err := l.TakeExport(r)
		cancel()
		if err != nil {
			if codeOf(err) != "client_closed_request" {
				t.Errorf("a caller who has left: got %v", err)
			}
			break
		}
		taken = append(taken, release)
	}
	if n := len(taken); n == 0 || n >= maxExports {
		t.Errorf("one key has %d of %d places", n, maxExports)
	}
	_, other := ask(t, pace.Limits{})
	other.Key.ID = "other"
	release, err := l.TakeExport(other)
	if err != nil {
		t.Fatalf("another key: %v", err)
	}
	release()
	taken[0]()
	_, r = ask(t, pace.Limits{})
	if release, err = l.TakeExport(r); err != nil {
		t.Errorf("after one was given back: %v", err)
	} else {
		release()
	}
}

func TestASmallBodyNeedsNoPlace(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{PerMinute: 1})
	w, r := ask(t, pace.Limits{})
	r.ContentLength = request.MaxBody
	if err := l.AdmitBody(w, r); err != nil || r.Counted || r.Place.Release != nil {
		t.Errorf("got %v, counted %v, %+v", err, r.Counted, r.Place)
	}
}

func TestALargeBodyCountsAndIsReadInTurns(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{PerMinute: 1})
	text := strings.Repeat("x", request.MaxBody+1)
	w, r := ask(t, pace.Limits{})
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	if err := l.AdmitBody(w, r); err != nil || !r.Counted {
		t.Fatalf("got %v, counted %v", err, r.Counted)
	}
	data, err := io.ReadAll(r.Body)
	if err != nil || string(data) != text {
		t.Errorf("got %d bytes, %v, want %d", len(data), err, len(text))
	}
	r.Place.Leave()
	r.Place.Leave() // the same again does nothing
	if n := l.bodies.Waiting("key"); n != 0 {
		t.Errorf("%d wait for places", n)
	}
	w, r = ask(t, pace.Limits{})
	r.ContentLength = -1
	if err := l.AdmitBody(w, r); codeOf(err) != "rate_limited" || r.Place.Release != nil {
		t.Errorf("a body of unknown size, beyond the rate: got %v", err)
	}
}

// stuck is a connection on which nothing comes in time.
type stuck struct{ io.Reader }

func (stuck) Read([]byte) (int, error) { return 0, timeoutError{} }
func (stuck) Close() error             { return nil }

type timeoutError struct{}

func (timeoutError) Error() string   { return "timeout" }
func (timeoutError) Is(e error) bool { return e.Error() == "i/o timeout" }

func TestABodyThatComesTooSlowly(t *testing.T) {
	t.Parallel()
	l := newLimits(t, pace.Limits{})
	w, r := ask(t, pace.Limits{})
	r.Body, r.ContentLength = stuck{}, -1
	if err := l.AdmitBody(w, r); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r.Body); !errors.Is(err, request.ErrTooSlow) {
		t.Errorf("got %v, want body_too_slow", err)
	}
	r.Place.Leave()
}
