// Package request reads the requests of callers: who sends one, how its answer is wanted,
// and its body within bounds. It says why one cannot be read.
package request

import (
	"context"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/problem"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Request is a request to the API, and what its endpoints know of it.
type Request struct {
	*http.Request

	ID      string
	Trace   string   // traceparent of its span; empty when it is not recorded
	Address string   // of the client
	Key     keys.Key // the caller's, once it is verified
	Refused string   // id of the key that was refused, if there is one

	Lang    string        // of the sentences in the response; empty is English
	Terms   vehicle.Terms // on which the request wants its cost
	Explain bool          // the request wants the source of each value
	Strict  bool          // the request wants to be refused for fields that do not exist
	Ignored []string      // fields of the request that do not exist

	Prefer         Preference
	IdempotencyKey string // empty without one

	Counted bool   // against the rate of the key
	Place   Place  // of a large body
	Job     string // id of the job that the request waits for or reads, if any

	// Admit is called before work starts for a visitor of the pages, and returns an
	// error when the visitor may not start more. It is nil for the request of a key.
	Admit  func(context.Context) error
	Sender string // the visitor who sent a page of a listing; empty for the request of a key
}

type contextKey struct{}

// With returns the context of a request that Of finds again.
func With(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, contextKey{}, r)
}

// Of returns what is known of a request.
func Of(r *http.Request) *Request {
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
func (r *Request) Origin() jobs.Origin { return jobs.Origin{Request: r.ID, Trace: r.Trace} }

// ReadParameters takes over the parameters in the query that every endpoint has: the
// language of the response, and whether fields that do not exist are refused; and what the
// caller prefers, who waits at most for waitMax.
func (r *Request) ReadParameters(waitMax time.Duration) (err error) {
	r.Prefer = parsePreference(r.Header, waitMax)
	query := r.URL.Query()
	if r.Lang, err = ParseLanguage(query.Get("lang")); err != nil {
		return err
	}
	r.Strict, err = Flag(query, "strict")
	return err
}

var errLangInvalid = problem.BadRequest("lang_invalid").Of("lang")

// ParseLanguage parses the language of a text. The default is English.
func ParseLanguage(lang string) (string, error) {
	switch lang {
	case "":
		return message.English, nil
	case message.English, message.Swahili:
		return lang, nil
	}
	return "", errLangInvalid
}

// Warnings returns the warning about the fields that were ignored; nil when there are
// none.
func (r *Request) Warnings() []vehicle.Warning {
	if len(r.Ignored) == 0 {
		return nil
	}
	return []vehicle.Warning{message.New("warning/field_ignored", ignoredValues(r.Ignored))}
}
