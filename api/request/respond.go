package request

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

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

// Seconds returns a duration as headers have it.
func Seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// WholeSeconds rounds up.
func WholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// RedisTimeout bounds every command of Redis for a request (redisx.Bound).
const RedisTimeout = 3 * time.Second

// PollAfter is the Retry-After of a job that has not ended, and of what cannot be done at
// the moment.
const PollAfter = 2 * time.Second

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
