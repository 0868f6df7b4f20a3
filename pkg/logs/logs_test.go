package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestLineOfAContext(t *testing.T) {
	var out bytes.Buffer
	log := New(&out, Options{}).With("worker", "w1")
	ctx := With(With(context.Background(), "job", "j1", "site", ""), "request", "r1")
	log.InfoContext(ctx, "x", "took", 1500*time.Microsecond, "duration_ms", 2*time.Second, "error", errors.New("gone"))
	for _, want := range []string{
		`"worker":"w1"`, `"job":"j1"`, `"request":"r1"`, `"took_ms":1.5`, `"duration_ms":2000`, `"error":"gone"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "site") {
		t.Errorf("an empty value is logged: %s", out.String())
	}
	out.Reset()
	New(&out, Options{Text: true, Level: "warn"}).Warn("for a terminal", "n", 1)
	if !strings.Contains(out.String(), `level=WARN msg="for a terminal" n=1`) {
		t.Errorf("text: %s", out.String())
	}
}

func TestExcerptIsClean(t *testing.T) {
	hostile := "<html>\x00\x1b[31m\r\nlevel=ERROR\u202e ush_0123456789abcdefghij Authorization: Bearer abcdef123456 " +
		"https://user:hunter2@host/ sk-abcdefgh12345678 \xff\xfe " + strings.Repeat("x", 10_000)
	got := Excerpt([]byte(hostile))
	if len(got) > MaxExcerpt || strings.ContainsFunc(got, unicode.IsControl) || strings.Contains(got, "\u202e") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	for _, secret := range []string{"0123456789abcdefghij", "abcdef123456", "hunter2", "abcdefgh12345678"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q holds %s", got, secret)
		}
	}
	if !strings.HasPrefix(got, "<html> [31m level=ERROR ush") && !strings.HasPrefix(got, "<html> [31m level=ERROR [redacted]") {
		t.Errorf("the beginning is lost: %q", got)
	}
	secretAtTheEnd := strings.Repeat("y", MaxExcerpt-10) + " ush_0123456789abcdefghij"
	if got := Excerpt([]byte(secretAtTheEnd)); strings.Contains(got, "ush_0") {
		t.Errorf("a secret that is cut is shown: %q", got)
	}
}

// away is the error of a Redis that cannot be reached.
var errAway = errors.New("away")

func newOutage(out io.Writer) *Outage {
	return &Outage{log: New(out, Options{}), unavailable: func(err error) bool { return errors.Is(err, errAway) }, stop: make(chan struct{})}
}

// Thousands of lines about one outage are one line at its start, one a minute and one at
// its end.
func TestOutageIsAFewLines(t *testing.T) {
	var out bytes.Buffer
	o := newOutage(&out)
	o.stopped = true // no goroutine: the test is the clock
	log := slog.New(&quietHandler{o.log.Handler(), o})
	o.since, o.said, o.last = time.Now(), time.Now(), time.Now()
	for range 1000 {
		log.Warn("sweep failed", "error", fmt.Errorf("read: %w", errAway))
		log.With("worker", "w1").Error("Dequeue error", "from", Asynq)
	}
	if out.Len() > 0 {
		t.Errorf("lines of the outage: %s", out.String())
	}
	log.Error("step failed", "error", errors.New("the site is down"))
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines of another failure: %s", n, out.String())
	}
	out.Reset()
	for range 3 {
		o.said = time.Now().Add(-reminder)
		if o.isOver(false) {
			t.Fatal("it is over")
		}
		o.isOver(false)
	}
	if n := strings.Count(out.String(), "Redis is still away"); n != 3 || !strings.Contains(out.String(), `"lines_not_written":2000`) {
		t.Errorf("%d reminders: %s", n, out.String())
	}
	if o.isOver(true) {
		t.Error("it is over a moment after a command failed")
	}
	o.last = time.Now().Add(-2 * calm)
	if !o.isOver(true) || !strings.Contains(out.String(), "Redis is back") {
		t.Errorf("it is not over: %s", out.String())
	}
	out.Reset()
	log.Warn("sweep failed", "error", errAway)
	if !strings.Contains(out.String(), "sweep failed") {
		t.Error("a line after the outage is hidden")
	}
}

func TestCallerThatGoesAwayIsNoOutage(t *testing.T) {
	var out bytes.Buffer
	o := newOutage(&out)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	o.ended(gone, errAway, time.Now().Add(-time.Minute))
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	o.ended(late, errAway, time.Now())
	if out.Len() > 0 {
		t.Errorf("an outage: %s", out.String())
	}
	o.stopped = true
	o.ended(late, errAway, time.Now().Add(-long))
	if o.failed != 1 {
		t.Error("a command that hung is not seen")
	}
}

// What stands behind the question mark of a link lets its holder in.
func TestQueriesOfLinksAreRemoved(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`Get "https://a.example/car/1?token=s3cret&x=1": EOF`:      `Get "https://a.example/car/1": EOF`,
		`no session /refuses?key=s3cret, go away`:                  `no session /refuses go away`,
		`<a href="car.php?id=7&amp;key=s3cret">next</a>`:           `<a href="car.php">next</a>`,
		`redirected to //a.example/?s3cret`:                        `redirected to //a.example/`,
		`<a href='/login#access_token=s3cret'>`:                    `<a href='/login'>`,
		`Is this your car? and/or? 3/4 #1`:                         `Is this your car? and/or? 3/4 #1`,
		`https://user:s3cret@a.example/?x, https://a.example/path`: `https://user:[redacted]@a.example/ https://a.example/path`,
	} {
		if got := Redact(text); got != want && (!strings.Contains(text, "@") || strings.Contains(got, "s3cret")) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
