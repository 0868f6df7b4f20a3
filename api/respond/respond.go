// Package respond writes the responses of the API, and records them for the log.
package respond

import (
	"net/http"
	"strconv"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/plainjson"
)

// JSON responds with a value as JSON.
func JSON(w http.ResponseWriter, status int, body any) error {
	data, err := plainjson.Encode(body)
	if err != nil {
		return err
	}
	Bytes(w, status, data)
	return nil
}

// Bytes responds with encoded JSON.
func Bytes(w http.ResponseWriter, status int, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(InLanguage(data, languageOf(w))) // it fails only when the client has disconnected
}

// Problem responds with a problem.
func Problem(w http.ResponseWriter, p *problem.Problem) error {
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
	Bytes(w, p.Status, data)
	return nil
}

// Seconds returns a duration as headers have it.
func Seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// WholeSeconds rounds up.
func WholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
