package respond

import (
	"net/http"

	"ushuru/api/request"
	"ushuru/pkg/message"
)

// Recorder is the writer of a response, and what the log says of it.
type Recorder struct {
	http.ResponseWriter

	Request  *request.Request
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

// Uncompressed returns the writer behind the compression of a response, which would keep
// pieces of it back and hide that the caller does not read them.
func Uncompressed(w http.ResponseWriter) http.ResponseWriter {
	if rec := recorderBehind(w); rec != nil {
		return rec
	}
	return w
}

// languageOf returns the language that the sentences of a response are in.
func languageOf(w http.ResponseWriter) string {
	if rec := recorderBehind(w); rec != nil {
		return rec.Request.Lang
	}
	return ""
}

// InLanguage returns JSON with its sentences in a language. JSON that cannot be
// translated stays as it is.
func InLanguage(data []byte, lang string) []byte {
	if lang != message.Swahili {
		return data
	}
	if translated, err := message.Translate(data); err == nil {
		return translated
	}
	return data
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
