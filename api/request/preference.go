package request

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Preference is what a caller requests with Prefer (RFC 7240). Unknown and
// malformed preferences are ignored, as the RFC requires.
type Preference struct {
	Async   bool          // respond-async
	Waits   bool          // wait=N was given
	Wait    time.Duration // its N, at most what the server allows
	waitMax time.Duration
}

// parsePreference parses the Prefer headers. Of a preference given twice, the
// first applies.
func parsePreference(h http.Header, waitMax time.Duration) Preference {
	p := Preference{waitMax: waitMax}
	for item := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		item, _, _ = strings.Cut(item, ";")
		name, value, _ := strings.Cut(item, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "respond-async":
			p.Async = true
		case "wait":
			n, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err == nil && !p.Waits {
				p.Waits, p.Wait = true, min(time.Duration(n)*time.Second, waitMax)
			}
		}
	}
	return p
}

// Accepts reports whether the caller accepts 202 with a job.
func (p Preference) Accepts() bool { return p.Async || p.Waits }

// Timeout is how long to wait for a result: as long as the caller says,
// not at all for respond-async alone, and as long as the server allows for a
// caller who states no preference.
func (p Preference) Timeout() time.Duration {
	if p.Accepts() {
		return p.Wait
	}
	return p.waitMax
}

// Applied returns the value of Preference-Applied. Async says that the response
// is a job instead of its result.
func (p Preference) Applied(async bool) string {
	var words []string
	if p.Async && async {
		words = append(words, "respond-async")
	}
	if p.Waits {
		words = append(words, "wait="+strconv.Itoa(int(p.Wait.Seconds())))
	}
	return strings.Join(words, ", ")
}
