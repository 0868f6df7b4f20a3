package await

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"ushuru/api/respond"
)

// Preference is what a caller requests with Prefer (RFC 7240). Unknown and
// malformed preferences are ignored, as the RFC requires.
type Preference struct {
	async   bool          // respond-async
	Waits   bool          // wait=N was given
	Wait    time.Duration // its N, at most what the server allows
	waitMax time.Duration
}

// PreferenceOf parses the Prefer headers. Of a preference given twice, the
// first applies.
func PreferenceOf(h http.Header, waitMax time.Duration) Preference {
	p := Preference{waitMax: waitMax}
	for item := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		item, _, _ = strings.Cut(item, ";")
		name, value, _ := strings.Cut(item, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "respond-async":
			p.async = true
		case "wait":
			n, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err == nil && !p.Waits {
				p.Waits, p.Wait = true, min(time.Duration(n)*time.Second, waitMax)
			}
		}
	}
	return p
}

// accepts reports whether the caller accepts 202 with a job.
func (p Preference) accepts() bool { return p.async || p.Waits }

// waitTimeout is how long to wait for a result: as long as the caller says,
// not at all for respond-async alone, and as long as the server allows for a
// caller who states no preference.
func (p Preference) waitTimeout() time.Duration {
	if p.accepts() {
		return p.Wait
	}
	return p.waitMax
}

// applied returns the value of Preference-Applied. async says that the response
// is a job instead of its result.
func (p Preference) applied(async bool) string {
	var words []string
	if p.async && async {
		words = append(words, "respond-async")
	}
	if p.Waits {
		words = append(words, "wait="+respond.Seconds(p.Wait))
	}
	return strings.Join(words, ", ")
}
