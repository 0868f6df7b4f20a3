package request

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// RedisTimeout bounds every command of Redis for a request (redisx.Bound).
const RedisTimeout = 3 * time.Second

// PollAfter is the Retry-After of a job that has not ended, and of what cannot be done at
// the moment.
const PollAfter = 2 * time.Second

// Handler responds to a request, or returns the error to respond with.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP responds with the handler's error. An error that is not a problem
// is a 500 without details.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	From(r).Place.Turn.Give() // before the response
	if err == nil {
		return
	}
	SetError(w, err)
	var (
		p     *problem.Problem
		spent *pace.SpentError
	)
	switch {
	case errors.As(err, &spent): // it may be the cause of a body that could not be read
		spent.Policy.SetHeaders(w.Header(), spent.Account)
		p = errComputed.After(max(WholeSeconds(spent.Account.RetryAfter), time.Second))
	case errors.As(err, &p) && p.Code == ErrTooSlow.Code: // net/http cancels such a request
	case r.Context().Err() != nil:
		p = ErrClientClosedRequest
	default:
		p = ProblemOf(err)
	}
	_ = WriteProblem(w, p)
}

var errComputed = problem.New(http.StatusTooManyRequests, "rate_limited.processor", nil)

// ProblemHandler is the handler that always responds with a problem.
func ProblemHandler(p *problem.Problem) Handler {
	return func(http.ResponseWriter, *http.Request) error { return p }
}

// Methods has the handlers of one path by method. HEAD is answered as GET, and
// OPTIONS on every path. Other methods get 405 with the Allow header.
type Methods map[string]Handler

// ServeHTTP calls the handler of the request's method.
func (m Methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet // net/http omits the body
	}
	if h, ok := m[method]; ok {
		h.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Allow", m.allowed())
	if method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	ProblemHandler(ErrMethodNotAllowed).ServeHTTP(w, r)
}

func (m Methods) allowed() string {
	allowed := append(slices.Collect(maps.Keys(m)), http.MethodOptions)
	if _, ok := m[http.MethodGet]; ok {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	return strings.Join(allowed, ", ")
}

// statusClientClosedRequest is logged for a client that disconnected before
// the response. nginx logs the same number; no RFC defines it.
const statusClientClosedRequest = 499

// The errors that any request may end with. Each is named by its code.
var (
	ErrNotFound            = problem.NotFound("not_found")
	ErrMethodNotAllowed    = problem.New(http.StatusMethodNotAllowed, "method_not_allowed", nil)
	ErrClientClosedRequest = problem.New(statusClientClosedRequest, "client_closed_request", nil)
	ErrInternal            = problem.New(http.StatusInternalServerError, "internal", nil)
	ErrUnavailable         = problem.New(http.StatusServiceUnavailable, "unavailable", nil).After(PollAfter)
)

// answers are how callers see the errors of the stores.
var answers = []struct {
	err error
	as  *problem.Problem
}{
	{jobs.ErrNotFound, problem.NotFound("job_not_found")},
	{jobs.ErrBadCursor, ErrPageInvalid},
	{tasks.ErrNotRequester, problem.New(http.StatusForbidden, "not_asked", nil)},
	{tasks.ErrStillNeeded, problem.Conflict("job_wanted")},
	{batch.ErrNotFound, problem.NotFound("batch_not_found")},
	{batch.ErrBadCursor, ErrPageInvalid},
	{batch.ErrNoneFailed, problem.Conflict("none_failed")},
	{webhook.ErrNotFound, problem.NotFound("webhook_not_found")},
	{webhook.ErrBadCursor, ErrPageInvalid},
	{webhook.ErrDisabled, problem.Conflict("webhook_disabled")},
	{webhook.ErrTooMany, problem.New(http.StatusConflict, "too_many_webhooks", problem.AtMost(webhook.MaxEndpoints))},
}

// ProblemOf returns what to answer to an error: the problem that it is, that of a store, that Redis
// does not serve now, or one without details.
func ProblemOf(err error) *problem.Problem {
	if known, ok := errors.AsType[*problem.Problem](err); ok {
		return known
	}
	for _, answer := range answers {
		if errors.Is(err, answer.err) {
			return answer.as.WithCause(err)
		}
	}
	if redisx.IsUnavailable(err) || redisx.IsReply(err) {
		return ErrUnavailable.WithCause(err)
	}
	return ErrInternal.WithCause(err)
}

// WriteProblem responds with a problem.
func WriteProblem(w http.ResponseWriter, p *problem.Problem) error {
	if rec := recorderBehind(w); rec != nil {
		rec.Code = p.Code
		answered := *p
		answered.Request = rec.Request.ID
		p = &answered
	}
	data, err := p.Encode()
	if err != nil {
		return err
	}
	p.SetHeader(w.Header())
	WriteBytes(w, p.Status, viewOf(w).Of(data))
	return nil
}

// WriteJSON responds with a value as JSON.
func WriteJSON(w http.ResponseWriter, status int, body any) error {
	data, err := plainjson.Encode(body)
	if err != nil {
		return err
	}
	WriteBytes(w, status, viewOf(w).Of(data))
	return nil
}

// WriteBytes responds with encoded JSON whose texts are in the view of the caller.
func WriteBytes(w http.ResponseWriter, status int, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // it fails only when the client has disconnected
}

// Recorder is the writer of a response, and what the log says of it.
type Recorder struct {
	http.ResponseWriter

	Request  *Request
	Route    string // template of its route; empty until it is matched
	Code     string // of the error that was responded with, if any
	Status   int    // 0 until the response begins
	Written  int64
	Err      error // what the handler returned
	Panicked bool  // the handler
}

// recorderBehind returns the Recorder that a response is written through; nil when
// there is none.
func recorderBehind(w http.ResponseWriter) *Recorder {
	for {
		switch writer := w.(type) {
		case *Recorder:
			return writer
		case interface{ Unwrap() http.ResponseWriter }:
			w = writer.Unwrap()
		default:
			return nil
		}
	}
}

// viewOf returns how the caller of a response reads its texts.
func viewOf(w http.ResponseWriter) message.View {
	if rec := recorderBehind(w); rec != nil {
		return rec.Request.View
	}
	return message.View{}
}

// SetRoute records the route of a request.
func SetRoute(w http.ResponseWriter, route string) {
	if rec := recorderBehind(w); rec != nil {
		rec.Route = route
	}
}

// SetError records the error of a response that has begun.
func SetError(w http.ResponseWriter, err error) {
	if rec := recorderBehind(w); rec != nil {
		rec.Err = err
	}
}

// WriteHeader records the status.
func (rec *Recorder) WriteHeader(status int) {
	if rec.Status == 0 {
		rec.Status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (rec *Recorder) Write(data []byte) (int, error) {
	if rec.Status == 0 {
		rec.Status = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(data)
	rec.Written += int64(n)
	return n, err
}

// Flush sends what was written so far. The compression in front of it flushes only what is
// an http.Flusher.
func (rec *Recorder) Flush() {
	_ = http.NewResponseController(rec.ResponseWriter).Flush() // a connection that cannot has nothing to send
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *Recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// Representation is how a caller reads the result of a job: on which terms, in which language,
// with which members, and whether with the source of each value. Callers of one job share its
// work, and each has a representation of its own in the query of the job's URL.
type Representation struct {
	message.View // of the sentences

	Terms   vehicle.Terms // on which the cost is wanted
	Explain bool          // the source of each value is wanted
	Fields  Fields        // that are wanted of the result
	Tags    Tags          // of the job and its event
}

// QueryString returns the representation as the query of a URL, "" for the usual one.
func (v Representation) QueryString() string {
	query := url.Values{}
	if !v.Terms.Rate.IsZero() {
		query.Set("rate", v.Terms.Rate.String())
	}
	if v.Terms.Landing != nil {
		query.Set("landing", v.Terms.Landing.From+".."+v.Terms.Landing.To)
	}
	if v.Terms.Target != nil {
		query.Set("target", v.Terms.Target.OnTheRoadTZS.String())
	}
	if v.Terms.ByMonth {
		query.Set("byMonth", "true")
	}
	if v.Terms.Costs != nil {
		if data, err := plainjson.Encode(v.Terms.Costs); err == nil {
			query.Set("costs", string(data))
		}
	}
	if v.Explain {
		query.Set("explain", "true")
	}
	if lang := v.Asked(); lang != "" {
		query.Set("lang", lang)
	}
	if v.Fields.asked != "" {
		query.Set("fields", v.Fields.asked)
	}
	v.Tags.SetQuery(query)
	return query.Encode()
}

// At returns the URL at which a path is read in this representation.
func (v Representation) At(path string) string {
	if query := v.QueryString(); query != "" {
		return path + "?" + query
	}
	return path
}

// Fields are the members of a result that a caller reads. The zero value are all of them.
type Fields struct {
	asked   string  // as in the query
	members members // nil for all
	without bool    // all but the members
}

// members are members of objects by their names, and the members that are meant of each; nil
// for the whole.
type members map[string]members

// Only returns the members of a list of their dotted names.
func Only(list string) Fields { return Fields{members: membersOf(list)} }

// AllBut returns all members but those of a list of their dotted names.
func AllBut(list string) Fields { return Fields{members: membersOf(list), without: true} }

// FieldsAsked returns the members of a list of their dotted names, as the query of a request named
// them; all of them for an empty list.
func FieldsAsked(asked, list string) Fields {
	if list == "" {
		return Fields{asked: asked}
	}
	return Fields{asked: asked, members: membersOf(list)}
}

// Asked returns the members as the query named them; empty when it named none.
func (f Fields) Asked() string { return f.asked }

// membersOf returns the members of a list of their dotted names.
func membersOf(list string) members {
	all := members{}
	for name := range strings.SplitSeq(list, ",") {
		parts, into := strings.Split(name, "."), all
		for i, part := range parts {
			if of, named := into[part]; named && of == nil {
				break // it is whole
			}
			if i == len(parts)-1 {
				into[part] = nil
			} else if into[part] == nil {
				into[part] = members{}
			}
			into = into[part]
		}
	}
	return all
}

// Of returns the JSON of a result with the members that the caller reads, and its texts in a
// view: what makes a string Swahili may be a member that the caller does not read.
func (f Fields) Of(result []byte, view message.View) []byte {
	result = view.Of(result)
	if f.members == nil || len(result) == 0 {
		return result
	}
	return f.append(make([]byte, 0, len(result)), result, f.members)
}

// Pick returns the JSON of a result with the members alone.
func (f Fields) Pick(result []byte) []byte {
	return f.append(make([]byte, 0, len(result)), result, f.members)
}

// append writes the chosen members of an object, or of each of the objects of a list.
func (f Fields) append(out, value []byte, chosen members) []byte {
	switch value[0] {
	case '[':
		out = append(out, '[')
		first := len(out)
		for element := range jsonobject.Elements(value) {
			if len(out) > first {
				out = append(out, ',')
			}
			out = f.append(out, element, chosen)
		}
		return append(out, ']')
	case '{':
		out = append(out, '{')
		first := len(out)
		for name, value := range jsonobject.Members(value) {
			of, named := chosen[string(name)]
			if string(name) == "draft" || string(name) == "object" { // of the view, and what the result is
				of, named = nil, !f.without
			}
			if named == f.without && of == nil {
				continue
			}
			if len(out) > first {
				out = append(out, ',')
			}
			out = append(append(append(out, '"'), name...), '"', ':')
			if of != nil {
				out = f.append(out, value, of)
			} else {
				out = append(out, value...)
			}
		}
		return append(out, '}')
	}
	return append(out, value...)
}

// WriteTagged responds with data under a tag of its content, or with 304 to a caller who has it.
// It is small, so a range of it is not served.
func WriteTagged(w http.ResponseWriter, r *http.Request, mediaType, caching string, data []byte) {
	writeTagged(w, r, mediaType, caching, TagOf(data), data)
}

// TagOf returns the tag of a content.
func TagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return `W/"` + hex.EncodeToString(sum[:8]) + `"` // weak: the response may be compressed
}

func writeTagged(w http.ResponseWriter, r *http.Request, mediaType, caching, tag string, data []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", caching)
	h.Set("ETag", tag)
	r.Header.Del("Range")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// eventTimeout is the maximum time for a caller to read one event.
const eventTimeout = 10 * time.Second

// Events is a response of server-sent events (HTML Living Standard, section 9.2).
type Events struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewEvents begins the response. It writes past the compression, which would keep events back
// and hide that the caller does not read them.
func NewEvents(w http.ResponseWriter) Events {
	if rec := recorderBehind(w); rec != nil {
		w = rec
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // or nginx buffers events
	events := Events{w, http.NewResponseController(w)}
	_ = events.control.SetReadDeadline(time.Time{}) // the request has been read
	w.WriteHeader(http.StatusOK)
	return events
}

// Send sends a piece at once: an event or a comment. It fails when the caller does not read it.
func (e Events) Send(piece string) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := e.w.Write([]byte(piece)); err != nil {
		return err
	}
	return e.control.Flush()
}

// MediaType returns the offered media type that the Accept headers of a request want
// most (RFC 9110, section 12.5.1). Of those that are wanted equally it is the first, and
// the first of all when none is wanted.
func MediaType(accept []string, offered ...string) string {
	best, most := offered[0], 0.0
	ranges := parseAccept(accept)
	for _, mediaType := range offered {
		if q := quality(ranges, mediaType); q > most {
			best, most = mediaType, q
		}
	}
	return best
}

// mediaRange is one element of Accept.
type mediaRange struct {
	name string // type/subtype, type/* or */*
	q    float64
}

func parseAccept(accept []string) (ranges []mediaRange) {
	for element := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		q := 1.0
		if text, given := params["q"]; given {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		ranges = append(ranges, mediaRange{name, q})
	}
	return ranges
}

// quality returns how much a media type is wanted: the weight of the most specific range
// that it is in.
func quality(ranges []mediaRange, mediaType string) (q float64) {
	family, _, _ := strings.Cut(mediaType, "/")
	for _, name := range []string{mediaType, family + "/*", "*/*"} {
		found := false
		for _, r := range ranges {
			if r.name == name {
				q, found = max(q, r.q), true
			}
		}
		if found {
			return q
		}
	}
	return 0
}

// Seconds returns a duration as headers have it.
func Seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// WholeSeconds rounds up.
func WholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
