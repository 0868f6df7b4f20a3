package respond

import (
	"context"
	"net/http"

	"ushuru/pkg/jobs"
	"ushuru/pkg/keys"
	"ushuru/pkg/vehicle"
)

// Recorder records one request and its response, for the log and for
// the handlers.
type Recorder struct {
	http.ResponseWriter

	ID       string
	Refused  string   // id of the key that was refused, if there is one
	Address  string   // of the client
	Key      keys.Key // the caller's, once it is verified
	Trace    string   // traceparent of its span; empty when it is not recorded
	Route    string   // template of its route; empty until it is matched
	Code     string   // of the error that was responded with, if any
	Job      string   // id of the job that the request waits for or reads, if any
	Status   int      // 0 until the response begins
	Written  int64
	Err      error  // what the handler returned
	Panicked bool   // the handler
	Lang     string // of the sentences in the response; empty is English

	Counted bool          // against the rate of the key
	Release func()        // gives the place of a large body back; nil without one
	Turn    *Turn         // to decode it; nil without one
	Terms   vehicle.Terms // on which the request wants its cost
	Explain bool          // the request wants the source of each value
	Ignored []string      // fields of the request that do not exist

	// Admit is called before work starts for a visitor of the pages, and returns an
	// error when the visitor may not start more. It is nil for the request of a key.
	Admit  func(context.Context) error
	Sender string // the visitor who sent a page of a listing; empty for the request of a key
}

// Origin is what the jobs of the request are found by in logs and traces.
func (rec *Recorder) Origin() jobs.Origin {
	return jobs.Origin{Request: rec.ID, Trace: rec.Trace}
}

// ReleasePlace gives the place of a large body back, once the body is not needed.
func (rec *Recorder) ReleasePlace() {
	if rec.Release != nil {
		rec.Release()
	}
}

type recorderKey struct{}

// RecorderOf returns the Recorder of a request.
func RecorderOf(r *http.Request) *Recorder {
	rec, _ := r.Context().Value(recorderKey{}).(*Recorder)
	return rec
}

// RecorderBehind returns the Recorder that a response is written through; nil when
// there is none.
func RecorderBehind(w http.ResponseWriter) *Recorder {
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

// WithRecorder returns the context of a request with its Recorder.
func WithRecorder(ctx context.Context, rec *Recorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, rec)
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
