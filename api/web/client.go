package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"ushuru/api/web/frame"
	"ushuru/api/web/links"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// job is a job as the API shows it.
type job struct {
	ID         string          `json:"id"`
	State      string          `json:"state"`
	Step       string          `json:"step"`
	StepSince  time.Time       `json:"stepSince"`
	Car        *vehicle.Car    `json:"car"` // as its page was read
	Created    time.Time       `json:"created"`
	Ended      time.Time       `json:"ended"`
	WaitingFor string          `json:"waitingFor"`
	Text       *message.Text   `json:"text"` // why it waits
	Progress   tasks.Progress  `json:"progress"`
	Result     json.RawMessage `json:"result"`
	Error      *vehicle.Error  `json:"error"`
}

// hasEnded reports whether the job has a result or an error.
func (j *job) hasEnded() bool { return j.Result != nil || j.Error != nil }

// soon waits for a result that comes within a second: its page is then the first that the visitor
// sees. Later does not wait.
const (
	soon  = "respond-async, wait=1"
	later = "respond-async"
)

// begin gives the request of a link to the API.
func (p *Pages) begin(ctx context.Context, wanted *link, prefer string) error {
	body, err := wanted.body()
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Prefer": {prefer}}
	return wanted.begun(p.api.Do(ctx, http.MethodPost, wanted.Path, body, header))
}

// upload gives the form of a request to the API as it arrives, and waits for no result.
func (p *Pages) upload(w http.ResponseWriter, r *http.Request) (*link, error) {
	made := &link{Link: links.Link{Path: pathReport, Fields: url.Values{}}}
	sent, err := http.NewRequestWithContext(r.Context(), http.MethodPost, pathReport, r.Body)
	if err != nil {
		return made, fmt.Errorf("web: request: %w", err)
	}
	sent.ContentLength = r.ContentLength
	sent.Header = http.Header{"Content-Type": {r.Header.Get("Content-Type")}, "Prefer": {later}}
	return made, made.begun(p.api.Send(sent, &frame.Response{Head: http.Header{}, Control: http.NewResponseController(w)}))
}
