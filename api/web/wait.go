package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/tasks"
)

const (
	// reloadAfter is when a browser without JavaScript looks again, in seconds.
	reloadAfter = 5
	// slowAfter is when the page says why it takes long.
	slowAfter = 20 * time.Second
	// maxStreams and maxNetworkStreams are how many streams of events are open at one process,
	// and those of one network.
	maxStreams        = 2000
	maxNetworkStreams = 200
	// streamTime is how long a stream lasts. Then the browser connects again.
	streamTime = 5 * time.Minute
	// lookInterval is how often a stream looks whether the work waits for something.
	lookInterval = 2 * time.Second
	// keepAlive is the interval between comments on a stream without events.
	keepAlive = 15 * time.Second
)

// progress is how far work is: what its page shows, and what the stream of that page sends.
type progress struct {
	Steps []step       `json:"steps"`
	Why   message.Text `json:"why"` // why it takes long; empty when it does not
	Car   string       `json:"car"` // as far as it is read, with its price
}

// waiting is the page of work that has not ended.
type waiting struct {
	progress

	Done, Total int
	Events      string // address of the stream
	Here        string // address of this page
	History     string // what the list of the visitor's cars calls the page
	ByHand      string // address of the form by hand; "" for what is no car
}

// step is one step of the work.
type step struct {
	Name  string `json:"name"`
	State string `json:"state"` // waiting, running, done or failed
}

// stepStates are the states of the parts of a job in the words of the page: a visitor need not know of
// queues.
var stepStates = map[tasks.PartState]string{
	tasks.PartDone: "done", tasks.PartSkipped: "done", tasks.PartFailed: "failed",
	tasks.PartRunning: "running", tasks.PartQueued: "running", tasks.PartWaiting: "waiting",
}

// stepsOf returns the steps of a job. The first waiting step behind the finished steps is shown as
// running.
func stepsOf(parts tasks.Progress) (steps []step) {
	before, running := "", false
	for _, part := range parts.Steps {
		s := step{part.Name, stepStates[part.State]}
		if s.State == "waiting" && before == "done" && !running {
			s.State = "running"
		}
		before, running = s.State, running || s.State == "running"
		steps = append(steps, s)
	}
	return steps
}

// wait responds with the progress of a job.
func (p *Pages) wait(w http.ResponseWriter, r *http.Request, found *link, current *job) error {
	view := waiting{
		progress: progressOf(current), Done: current.Progress.Done, Total: current.Progress.Total,
		Events: found.with(r.URL.Path + "/events"), Here: found.with(r.URL.Path),
	}
	view.History = cmp.Or(view.Car, strings.TrimPrefix(strings.TrimPrefix(found.Fields.Get("u"), "https://"), "http://"))
	if found.Path == pathEstimate {
		view.ByHand = byHandOf(current.Car, found.terms)
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "wait", Body: view, Again: reloadAfter})
}

// progressOf returns how far a job is.
func progressOf(current *job) progress {
	p := progress{Steps: stepsOf(current.Progress), Why: whyOf(current)}
	if car := current.Car; car != nil {
		p.Car = frame.NameOf(*car)
		if price := cmp.Or(car.CFPriceUSD, car.FOBPriceUSD); price != nil {
			p.Car += " · " + frame.InDollars(price.Decimal().IntPart())
		}
	}
	return p
}

// whyOf returns why a job takes long; empty when it does not.
func whyOf(current *job) message.Text {
	switch {
	case current.Text != nil:
		return *current.Text
	case time.Since(current.Created) < slowAfter:
		return message.Text{}
	}
	since := message.Values{"since": cmp.Or(current.StepSince, current.Created).In(localtime.Zone).Format(time.TimeOnly)}
	switch current.Step {
	case tasks.StepScrape, tasks.StepCalculate:
		return message.Say("page/wait.slow_"+current.Step, since)
	}
	return message.Say("page/wait.slow", since)
}

// events streams the steps of the work as server-sent events, and an empty one at its
// end, when the page loads again.
func (p *Pages) events(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	if found.Shown != nil || found.Job == "" {
		w.WriteHeader(http.StatusNoContent) // the standard's status for: do not connect again
		return nil
	}
	var current job
	if err := p.api.Get(r.Context(), found.Job, &current); err != nil {
		return err
	}
	ofNetwork := pace.Bound{Owner: request.From(r).Network + " network", Most: maxNetworkStreams}
	release, ok := p.streams.Take(pace.Bound{Most: maxStreams}, ofNetwork)
	if !ok {
		w.WriteHeader(http.StatusNoContent) // the page loads again by itself
		return nil
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), streamTime)
	defer cancel()
	defer context.AfterFunc(p.options.Draining, cancel)() //nolint:contextcheck // the life of the server ends the stream too
	changed, unsubscribe := p.options.Watch(current.ID)
	defer unsubscribe()
	p.follow(ctx, request.NewEvents(w), changed, found.Job)
	return nil
}

// follow sends the progress of a job whenever it has changed, until it ends, or a comment when nothing
// was sent for a while: without them a proxy would close the stream.
func (p *Pages) follow(ctx context.Context, events request.Events, changed <-chan struct{}, address string) {
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	var last string
	var sent time.Time
	for {
		var current job
		if err := p.api.Get(ctx, address, &current); err != nil {
			return // the browser connects again, to another process when this one stops
		}
		if current.hasEnded() {
			_ = events.Send("event: end\ndata:\n\n")
			return
		}
		data, err := plainjson.Encode(progressOf(&current))
		piece := fmt.Sprintf("event: steps\ndata: %s\n\n", data)
		if piece == last {
			piece = ": here\n\n"
		} else {
			last, sent = piece, time.Time{}
		}
		if err == nil && time.Since(sent) > keepAlive {
			sent, err = time.Now(), events.Send(piece)
		}
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-look.C:
		}
	}
}
