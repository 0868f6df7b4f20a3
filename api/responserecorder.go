package api

import (
	"context"
	"net/http"

	"ushuru/api/terms"
	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// responseRecorder records one request and its response, for the log and for
// the handlers.
type responseRecorder struct {
	http.ResponseWriter

	id       string
	refused  string   // id of the key that was refused, if there is one
	address  string   // of the client
	key      keys.Key // the caller's, once it is verified
	trace    string   // traceparent of its span; empty when it is not recorded
	route    string   // template of its route; empty until it is matched
	code     string   // of the error that was responded with, if any
	job      string   // id of the job that the request waits for or reads, if any
	status   int      // 0 until the response begins
	written  int64
	err      error  // what the handler returned
	panicked bool   // the handler
	lang     string // of the sentences in the response; empty is English

	counted bool          // against the rate of the key
	release func()        // gives the place of a large body back; nil without one
	turn    *turn         // to decode it; nil without one
	terms   vehicle.Terms // on which the request wants its cost
	explain bool          // the request wants the source of each value
	ignored []string      // fields of the request that do not exist

	idempotent *idempotentRequest // nil without an Idempotency-Key
}

// origin is what the jobs of the request are found by in logs and traces.
func (rec *responseRecorder) origin() jobs.Origin {
	return jobs.Origin{Request: rec.id, Trace: rec.trace}
}

// releasePlace gives the place of a large body back, once the body is not needed.
func (rec *responseRecorder) releasePlace() {
	if rec.release != nil {
		rec.release()
	}
}

// view returns how the request reads the result of a job of a kind.
func (rec *responseRecorder) view(kind string) terms.View {
	v := terms.View{Lang: rec.lang}
	if kind == tasks.KindEstimate || kind == tasks.KindQuote { // a comparison is made on its terms
		v.Terms = rec.terms
	}
	v.Explain = rec.explain && kind == tasks.KindEstimate
	return v
}

type recorderKey struct{}

// recorderOf returns the responseRecorder of a request.
func recorderOf(r *http.Request) *responseRecorder {
	rec, _ := r.Context().Value(recorderKey{}).(*responseRecorder)
	return rec
}

// recorderBehind returns the responseRecorder that a response is written through; nil when
// there is none.
func recorderBehind(w http.ResponseWriter) *responseRecorder {
	for {
		switch writer := w.(type) {
		case *responseRecorder:
			return writer
		case interface{ Unwrap() http.ResponseWriter }:
			w = writer.Unwrap()
		default:
			return nil
		}
	}
}

func withRecorder(ctx context.Context, rec *responseRecorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, rec)
}

// WriteHeader records the status.
func (rec *responseRecorder) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (rec *responseRecorder) Write(data []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(data)
	rec.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *responseRecorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }
