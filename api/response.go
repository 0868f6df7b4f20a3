package api

import (
	"net/http"
	"strconv"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/plainjson"
)

// writeJSON responds with a value as JSON.
func writeJSON(w http.ResponseWriter, status int, body any) error {
	data, err := plainjson.Encode(body)
	if err != nil {
		return err
	}
	writeBytes(w, status, data)
	return nil
}

// writeBytes responds with encoded JSON.
func writeBytes(w http.ResponseWriter, status int, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	//nolint:gosec // it is JSON
	_, _ = w.Write(inLanguage(data, languageOf(w))) // it fails only when the client has disconnected
}

// writeProblem responds with a problem.
func writeProblem(w http.ResponseWriter, p *problem.Problem) error {
	if rec := recorderBehind(w); rec != nil {
		rec.code = p.Code
		answered := *p
		answered.Request = rec.id
		p = &answered
	}
	data, err := p.Encode()
	if err != nil {
		return err
	}
	p.SetHeader(w.Header())
	writeBytes(w, p.Status, data)
	return nil
}

// writeResult responds with the result of a job.
func writeResult(w http.ResponseWriter, result []byte) error {
	writeBytes(w, http.StatusOK, result)
	return nil
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }
