package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/gorilla/mux"
)

// jobEvents answers GET /v1/jobs/{id}/events: the job whenever its state or
// progress changes, and its end with the result or the error.
func (s *Server) jobEvents(w http.ResponseWriter, r *http.Request) error {
	id := mux.Vars(r)["id"]
	exchangeOf(r).job = id
	moved, leave := s.options.Hub.Follow(id)
	defer leave()
	return s.stream(w, r, moved, func(ctx context.Context) (event, error) {
		job, err := s.job(ctx, id)
		if err != nil {
			return event{}, err
		}
		data, err := unescaped(bodyOf(job))
		if err != nil {
			return event{}, err
		}
		// The id says what was told, so that every API process knows it.
		sum := sha256.Sum256(data)
		told := event{id: hex.EncodeToString(sum[:8]), name: "progress", data: data, last: job.State.Ended()}
		if told.last {
			told.name = "end"
		}
		return told, nil
	})
}
