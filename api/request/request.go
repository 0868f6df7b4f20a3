// Package request has the handlers of requests: it reads who sends one, how its answer is
// wanted, and its body within bounds; it writes the response, or the problem in its place, and
// records it for the log.
package request

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/problem"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
)

// Request is a request to the API, and what its endpoints know of it.
type Request struct {
	*http.Request
	Representation // of the result in the response

	ID      string
	Trace   string   // traceparent of its span; empty when it is not recorded
	Address string   // of the client
	Network string   // of the client, by which visitors without a key are counted
	Visitor string   // who sends it among the visitors of the network; "" for who has no cookie
	Key     keys.Key // the caller's, once it is verified
	Refused string   // id of the key that was refused, if there is one

	Strict  bool     // the request wants to be refused for fields that do not exist
	Ignored []string // fields of the request that do not exist

	Prefer         Preference
	IdempotencyKey string // empty without one

	Counted bool // against the rate of the key
	Place   Place
	Job     string // id of the job that the request waits for or reads, if any

	Sender string // of a page of a listing that a visitor sent; empty for the request of a key
}

type contextKey struct{}

// With returns the context of a request that From finds again, whose commands of Redis are bounded.
func With(ctx context.Context, r *Request) context.Context {
	return context.WithValue(redisx.Bound(ctx, RedisTimeout), contextKey{}, r)
}

// From returns what is known of a request.
func From(r *http.Request) *Request {
	known, _ := r.Context().Value(contextKey{}).(*Request)
	if known == nil {
		known = &Request{}
	}
	known.Request = r
	return known
}

// Var returns a variable of the path.
func (r *Request) Var(name string) string { return mux.Vars(r.Request)[name] }

// Origin is what the jobs of the request are found by in logs and traces.
func (r *Request) Origin() jobs.Origin {
	origin := jobs.Origin{Request: r.ID, Trace: r.Trace}
	if r.Key.ID == pace.Anonymous {
		origin.Network, origin.Visitor = r.Network, r.Visitor
	}
	return origin
}

// Caller returns whose limits the request counts against: the key's, or, of visitors
// without one, those of their network.
func (r *Request) Caller() string { return pace.Caller(r.Key.ID, r.Network) }

// Holder returns whose accounts the request counts against: a key's, or a visitor's within the network.
func (r *Request) Holder() pace.Holder {
	holder := pace.Holder{Whole: r.Caller()}
	if r.Key.ID == pace.Anonymous {
		holder.Part = cmp.Or(r.Visitor, "none")
	}
	return holder
}

// NetworkOf returns the network of an address: 24 bits of IPv4, 48 of IPv6.
func NetworkOf(address netip.Addr) string {
	length := 48
	if address.Unmap().Is4() {
		address, length = address.Unmap(), 24
	}
	prefix, err := address.Prefix(length)
	if err != nil || !address.IsValid() {
		return "none"
	}
	return strings.ReplaceAll(prefix.Addr().String(), ":", "-")
}

// ReadParameters takes over the parameters in the query that every endpoint has: the
// language of the response, and whether fields that do not exist are refused; and what the
// caller prefers, who waits at most for waitMax.
func (r *Request) ReadParameters(waitMax time.Duration) (err error) {
	r.Prefer = parsePreference(r.Header, waitMax)
	query := r.URL.Query()
	if r.View, err = ParseView(query.Get("lang")); err != nil {
		return err
	}
	r.Strict, err = Flag(query, "strict")
	return err
}

var (
	errLangInvalid = problem.BadRequest("lang_invalid").Of("lang")
	errOneLanguage = problem.BadRequest("lang_invalid.one").Of("lang")
)

// ParseView parses the languages of an answer. The default is English.
func ParseView(lang string) (message.View, error) {
	if !slices.Contains([]string{"", message.English, message.Swahili, message.All}, lang) {
		return message.View{}, errLangInvalid
	}
	return message.ViewIn(lang), nil
}

// ParseLanguage parses the language of what is written in one. The default is English.
func ParseLanguage(lang string) (string, error) {
	view, err := ParseView(lang)
	if view.Both {
		err = errOneLanguage
	}
	return view.Lang, err
}

// Warnings returns the warning about the fields that were ignored; nil when there are
// none.
func (r *Request) Warnings() []vehicle.Warning {
	if len(r.Ignored) == 0 {
		return nil
	}
	return []vehicle.Warning{message.New("warning/field_ignored", ignoredValues(r.Ignored))}
}
