package await

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	errCancelled   = problem.Conflict("cancelled")
	errNotFinished = problem.New(http.StatusGatewayTimeout, "not_finished", nil).After(request.PollAfter)
)

// maxWaiters is the maximum number of requests of a key that wait for a job at one
// API process. Others are answered at once that it has not ended.
const maxWaiters = 200

// Wait returns a job once it has ended, or as it is when waiting longer is useless.
func (k *Work) Wait(r *request.Request, job *jobs.Job, timeout time.Duration) (*jobs.Job, error) {
	job, _, err := k.wait(r, job, timeout)
	return job, err
}

// wait returns a job once it has ended, or as it is after the timeout, with what it waits for. It
// returns earlier when the job waits for something that it cannot have now: waiting longer is
// useless to the caller, and the job continues. A caller who disconnects, or a server that
// shuts down, ends the wait but not the job.
func (k *Work) wait(r *request.Request, job *jobs.Job, timeout time.Duration) (*jobs.Job, waiting, error) {
	if job.State.Ended() {
		return job, waiting{}, nil
	}
	release, ok := k.waiters.Take(pace.Bound{Owner: r.Caller(), Most: maxWaiters})
	if !ok {
		timeout, release = 0, func() {}
	}
	defer release()
	ended, leave := k.options.Hub.Ended(job.ID)
	defer leave()
	over, stop := context.WithTimeout(k.options.Draining, timeout)
	defer stop()
	ticks := time.NewTicker(lookInterval)
	defer ticks.Stop()
	site := siteOf(job)
	for at := atBegin; ; {
		if over.Err() != nil {
			at = atTimeout
		}
		now, waits, err := k.look(r.Context(), job, site, at)
		if err != nil || now.State.Ended() || waits.isFelt || at == atTimeout {
			return now, waits, err
		}
		job = now
		select {
		case <-r.Context().Done():
			return nil, waiting{}, r.Context().Err()
		case <-ended:
			at = atSignal
		case <-over.Done():
		case <-ticks.C:
			at = atTick
		}
	}
}

// moment is when a request looks at the job that it waits for.
type moment int

const (
	atBegin   moment = iota // the job may have ended before its end was listened for
	atTick                  // the job may be held up
	atSignal                // the job may have ended
	atTimeout               // the wait is over
)

// look returns a job, which may fetch a page of a site, as it is, or as it was when its record cannot
// be read or need not be, and at a tick and a timeout what it waits for.
func (k *Work) look(ctx context.Context, was *jobs.Job, site string, at moment) (now *jobs.Job, waits waiting, err error) {
	if at == atTick && !k.mayBeHeldUp(ctx, was.Kind, site) {
		return was, waiting{}, nil
	}
	if at == atBegin {
		if isOver, err := k.options.Jobs.IsOver(ctx, was.ID); err == nil && !isOver {
			return was, waiting{}, nil
		}
	}
	now, err = k.options.Tasks.Job(ctx, was.ID)
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return nil, waiting{}, err
	case err != nil:
		now = was
	case now.State.Ended():
		k.options.Limits.PersonGoesOn()
		return now, waiting{}, nil
	}
	if at == atTick || at == atTimeout {
		waits = k.waitOf(ctx, now)
	}
	return now, waits, nil
}

// mayBeHeldUp reports whether a job of a kind, which fetches a page of a site, may wait for something
// that it cannot have now: whether its record must be read to know. That of a comparison must be.
func (k *Work) mayBeHeldUp(ctx context.Context, kind, site string) bool {
	if kind == tasks.KindCompare || site != "" && k.holds.paces(ctx, site)[site].Pause > 0 {
		return true
	}
	_, lasts := k.options.Outages.Lasting(ctx)
	return lasts >= outageGrace
}

// The values of "waitingFor".
const (
	WaitingForAuthority = "authority" // only TRA's calculator can finish the job, and it cannot be asked
	WaitingForSite      = "site"      // the site of the listing pauses, or its pages are requested at its pace
	WaitingForQueue     = tasks.QueuePaused

	// Of a wait that is over, when the job can go on.
	waitingForWorker = "worker" // its step, or that of a job that it needs, has not begun
	waitingForStep   = "step"   // a worker is at its step
)

const (
	// lookInterval is how often a wait and a stream look whether the job can end now.
	lookInterval = time.Second
	// outageGrace is how long an outage has lasted when the callers learn of it who
	// were waiting when it began: workers end the jobs of known vehicles first.
	outageGrace = 5 * time.Second
)

// waiting is what a job waits for that has not ended.
type waiting struct {
	what   string           // as in "waitingFor"
	said   message.Notice   // a sentence
	paused *tasks.StepError // of a site that pauses
	pause  time.Duration    // of the site
	isFelt bool             // callers who wait for the job learn of it before their time is over
}

// waitOf returns the first blocker of a job or of its children; without one, whether a worker has
// claimed the step of the job.
func (k *Work) waitOf(ctx context.Context, job *jobs.Job) waiting {
	open := k.open(ctx, job)
	sites := sitesOf(open)
	queues, paces := k.holds.pausedQueues(ctx), k.holds.paces(ctx, sites...)
	outage, lasts := k.options.Outages.Lasting(ctx)
	what, at := waitingForWorker, ""
	for i, o := range open {
		step := tasks.CurrentStep(o)
		if said, paused := queues[step.Queue]; paused {
			return waiting{what: WaitingForQueue, said: said}
		}
		if step.Name == tasks.StepCalculate && outage.Reason != "" {
			return waiting{what: WaitingForAuthority, said: outage.Notice(), isFelt: lasts >= outageGrace}
		}
		if step.Name == tasks.StepScrape {
			pace := paces[sites[i]]
			if paused := tasks.SitePaused(pace.Pause, tasks.OfferPage, nil); paused != nil {
				return waiting{what: WaitingForSite, said: paused.Notice, paused: paused, pause: pace.Pause, isFelt: true}
			}
			if pace.Delayed && o.Class == jobs.Bulk && step.State == jobs.StepReady {
				return waiting{what: WaitingForSite, said: siteBusy(sites[i], pace)}
			}
		}
		if step.Name != "" && what != waitingForStep {
			at = step.Name
			if step.State == jobs.StepClaimed {
				what = waitingForStep
			}
		}
	}
	if at == "" {
		return waiting{what: what, said: message.New("waiting/begin", nil)}
	}
	return waiting{what: what, said: message.New("waiting/"+what, message.Values{"step": at})}
}

// open returns a job and those of its children that have not ended.
func (k *Work) open(ctx context.Context, job *jobs.Job) (open []*jobs.Job) {
	if job.State.Ended() {
		return nil
	}
	open = append(open, job)
	for _, child := range job.Children {
		if child.Job == "" || child.State.Ended() {
			continue
		}
		if record, err := k.options.Tasks.Job(ctx, child.Job); err == nil && !record.State.Ended() {
			open = append(open, record)
		}
	}
	return open
}

// SitesOf returns the sites whose pages a job and its open children may fetch; "" for each that
// fetches none.
func (k *Work) SitesOf(ctx context.Context, job *jobs.Job) []string { return sitesOf(k.open(ctx, job)) }

func sitesOf(open []*jobs.Job) []string {
	sites := make([]string, len(open))
	for i, job := range open {
		sites[i] = siteOf(job)
	}
	return sites
}

// siteOf returns the site whose page an estimate fetches; "" when the caller sent the page, and for
// other kinds of jobs.
func siteOf(job *jobs.Job) string {
	var input tasks.EstimateInput
	if job.Kind != tasks.KindEstimate || json.Unmarshal(job.Input, &input) != nil || input.Page != "" {
		return ""
	}
	page, err := url.Parse(input.URL)
	if err != nil {
		return ""
	}
	return page.Host
}

// writeUnfinished responds to a caller whose wait is over before the job has ended: with 202 when
// the caller prefers that, else with the problem.
func (k *Work) writeUnfinished(w http.ResponseWriter, r *request.Request, job *jobs.Job, waits waiting) error {
	if !r.Prefer.Accepts() {
		p := waits.problem().At(r.At(Path(job.ID)))
		p.Job = job.ID
		return p
	}
	w.Header().Set("Preference-Applied", r.Prefer.Applied(true))
	if err := k.Accept(w, r, r.At(Path(job.ID))); err != nil {
		return err
	}
	body := NewBody(job)
	body.waitFor(waits)
	body.Link(r.Representation)
	body.Warnings = r.Warnings()
	return request.WriteJSON(w, http.StatusAccepted, body)
}

// problem returns the response to a caller who waits for the job.
func (s waiting) problem() *problem.Problem {
	if s.paused == nil {
		return errNotFinished.Waiting(s.what, s.said)
	}
	p := ErrorProblem(tasks.JobError(s.paused))
	p.WaitingFor = WaitingForSite
	return p
}

// Accept makes sure of a job that an answer 202 names, and sets the headers of that: where the job
// is read, and when.
func (k *Work) Accept(w http.ResponseWriter, r *request.Request, location string) error {
	if err := k.Confirm(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Location", location)
	w.Header().Set("Retry-After", request.Seconds(request.PollAfter))
	return nil
}

// Confirm makes sure that what a response acknowledges, with 202 or 201, outlives the
// death of a Redis master, when the operator demands that. The work goes on even if it
// does not; the caller is answered 503 and sends the request again.
func (k *Work) Confirm(ctx context.Context) error {
	if k.options.Confirm == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, request.RedisTimeout)
	defer cancel()
	if err := k.options.Confirm(ctx); err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	return nil
}

// Body is a job as its callers see it.
type Body struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"`
	State   jobs.State `json:"state"`
	Step    string     `json:"step,omitempty"`    // current or next, until the job ends
	Attempt int        `json:"attempt,omitempty"` // at that step, retries included
	Created time.Time  `json:"created"`
	Ended   time.Time  `json:"ended,omitzero"`

	StepSince time.Time    `json:"stepSince,omitzero"` // since when it is at that step
	Car       *vehicle.Car `json:"car,omitempty"`      // as its page was read, until the job ends

	WaitingFor string        `json:"waitingFor,omitempty"` // authority, while TRA cannot be asked; site, while the site pauses
	Message    string        `json:"message,omitempty"`    // why, as a sentence
	Text       *message.Text `json:"text,omitempty"`       // Message in both languages
	RetryAfter int           `json:"retryAfter,omitempty"` // seconds for which the site pauses

	Warnings []vehicle.Warning `json:"warnings,omitempty"` // about the request

	Metadata map[string]string `json:"metadata,omitempty"` // of the request

	Progress tasks.Progress   `json:"progress"`
	Result   json.RawMessage  `json:"result,omitempty"`
	Error    *problem.Problem `json:"error,omitempty"`

	Location string `json:"location,omitempty"` // where the job is read, in the view of the request
	Events   string `json:"events,omitempty"`   // where it is followed, in the same

	Object string `json:"object"` // job
}

// NewBody returns a job without what it waits for.
func NewBody(job *jobs.Job) Body {
	body := Body{Object: "job", ID: job.ID, Kind: job.Kind, State: job.State, Result: job.Result}
	switch {
	case !job.State.Ended():
		body.Car = carRead(job)
	case job.State != jobs.Succeeded:
		body.Error = ProblemOf(job)
	}
	step := tasks.CurrentStep(job)
	body.Step, body.Attempt, body.Progress = step.Name, step.Attempt+step.Retries, tasks.ProgressOf(job)
	body.Created, body.Ended, body.StepSince = localtime.Of(job.Created), localtime.Of(job.Ended), localtime.Of(step.Since)
	return body
}

// carRead returns the car of a listing that a job has read; nil before, and for other kinds.
func carRead(job *jobs.Job) *vehicle.Car {
	output, read := job.Outputs[tasks.StepScrape]
	var scraped tasks.Scraped
	if !read || json.Unmarshal(output, &scraped) != nil {
		return nil
	}
	return &scraped.Car
}

// Body returns a job with what it waits for.
func (k *Work) Body(ctx context.Context, job *jobs.Job) Body {
	body := NewBody(job)
	body.waitFor(k.waitOf(ctx, job))
	return body
}

// waitFor says what the job cannot have now.
func (b *Body) waitFor(waits waiting) {
	if waits.what != waitingForWorker && waits.what != waitingForStep {
		b.WaitingFor, b.Message, b.Text = waits.what, waits.said.Message, waits.said.Text
		b.RetryAfter = int(request.WholeSeconds(waits.pause) / time.Second)
	}
}

// Path is where a job is read.
func Path(id string) string { return "/v1/jobs/" + id }

// Link adds where the job is read and followed, and what the request said of it.
func (b *Body) Link(view request.Representation) {
	b.Metadata = view.Tags.Metadata
	b.Location, b.Events = view.At(Path(b.ID)), view.At(Path(b.ID)+"/events")
}

// ProblemOf returns the response of a job without a result.
func ProblemOf(job *jobs.Job) *problem.Problem {
	if job.Error == nil {
		return errCancelled
	}
	p := ErrorProblem(job.Error)
	switch {
	case p.Code == "listing_incomplete" && job.Kind == tasks.KindQuote:
		p.Status, p.Code = http.StatusBadRequest, "request_incomplete"
	case p.Status == http.StatusUnprocessableEntity && job.Kind == tasks.KindCompare:
		p.Status = http.StatusInternalServerError // by the contract, whose mistake it is does not matter
	}
	return p
}

// ErrorProblem returns the response of the error of a job.
func ErrorProblem(why *jobs.Error) *problem.Problem {
	p := problem.OfJob(why.Notice, why.Permanent)
	// The shape of the details depends on the code. What was found of a car that
	// was not matched and the end of a pause are for the caller; older jobs have only
	// candidates.
	var refusal tasks.Refusal
	var paused tasks.PauseDetails
	if json.Unmarshal(why.Details, &refusal) == nil {
		p.Car, p.Candidates, p.Cars = refusal.Car, refusal.Candidates, refusal.Cars
		_ = json.Unmarshal(why.Details, &paused)
		p.RetryAt = paused.RetryAt
	} else {
		_ = json.Unmarshal(why.Details, &p.Candidates)
	}
	return p
}

// holds knows what holds work up, for many callers of one process: which sites pause or are
// busy, and which queues an operator has paused. It reads each at most once a second, and what
// Redis does not answer holds nothing up.
type holds struct {
	redis redis.UniversalClient

	mu     sync.Mutex
	sites  map[string]sitePace
	queues map[string]message.Notice // that are paused
	read   time.Time                 // the queues
	failed time.Time                 // when Redis last did not answer
}

// sitePace is the pace of a site as it was read at a time.
type sitePace struct {
	fetch.Pace

	read time.Time
}

// maxSites bounds the sites in memory.
const maxSites = 256

// ask reads from Redis, for all callers that wait for the answer, also when the one that asks
// goes away. When Redis does not answer, it is not asked again for a second: else the callers
// would wait for it one after another.
func (h *holds) ask(parent context.Context, read func(context.Context) error) {
	if time.Since(h.failed) < lookInterval {
		return
	}
	if err := read(context.WithoutCancel(parent)); err != nil {
		h.failed = time.Now()
	}
}

// paces returns the paces of hosts, as far as they are known.
func (h *holds) paces(parent context.Context, hosts ...string) map[string]fetch.Pace {
	h.mu.Lock()
	defer h.mu.Unlock()
	paces, old := map[string]fetch.Pace{}, []string(nil)
	for _, host := range hosts {
		known := h.sites[host]
		age := time.Since(known.read)
		switch {
		case host == "":
		case age < lookInterval:
			known.Pause = max(known.Pause-age, 0)
			paces[host] = known.Pace
		default:
			old = append(old, host)
		}
	}
	if len(old) == 0 {
		return paces
	}
	h.ask(parent, func(ctx context.Context) error {
		found, err := fetch.PacesOf(ctx, h.redis, old...)
		now := time.Now()
		for host, pace := range found {
			if h.sites == nil || len(h.sites) >= maxSites {
				h.sites = map[string]sitePace{}
			}
			h.sites[host], paces[host] = sitePace{pace, now}, pace
		}
		return err
	})
	return paces
}

// pausedQueues returns the queues that an operator has paused, and what is said of each.
func (h *holds) pausedQueues(parent context.Context) map[string]message.Notice {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.read) < lookInterval {
		return h.queues
	}
	h.ask(parent, func(ctx context.Context) error {
		paused, err := tasks.PausedQueues(ctx, h.redis)
		if err != nil {
			return err
		}
		h.queues, h.read = map[string]message.Notice{}, time.Now()
		for _, queue := range paused {
			h.queues[queue] = message.New("waiting/queue_paused", message.Values{"queue": queue})
		}
		return nil
	})
	return h.queues
}

// SlowSite is the site that decides when the rows of a batch have ended; the zero value is none.
type SlowSite struct {
	Seconds int            // until then
	Said    message.Notice // its pace, or until when it pauses
}

// SlowestSite returns of sites that pause or are busy the one whose rows end last, by the number
// of rows that wait for each.
func (k *Work) SlowestSite(ctx context.Context, rows map[string]int) (slowest SlowSite) {
	for host, pace := range k.holds.paces(ctx, slices.Collect(maps.Keys(rows))...) {
		paused := tasks.SitePaused(pace.Pause, "rows", nil)
		if rows[host] == 0 || paused == nil && (!pace.Delayed || pace.PerSecond == 0) {
			continue
		}
		left := pace.Pause
		if pace.PerSecond > 0 {
			left += time.Duration(float64(rows[host]) / pace.PerSecond * float64(time.Second))
		}
		if seconds := int(math.Ceil(left.Seconds())); seconds > slowest.Seconds {
			slowest = SlowSite{seconds, siteRows(host, pace, rows[host])}
			if paused != nil {
				slowest.Said = paused.Notice
			}
		}
	}
	return slowest
}

// PausedForRows says that an operator has paused the queue of the rows of batches; nil when
// none has.
func (k *Work) PausedForRows(ctx context.Context) *message.Notice {
	paused := k.holds.pausedQueues(ctx)
	for _, role := range tasks.Roles {
		if said, isPaused := paused[tasks.QueueOf(role)+tasks.BulkSuffix]; isPaused && role != tasks.RoleAI {
			return &said
		}
	}
	return nil
}

// siteBusy says at which pace the pages are requested of a site for which others wait.
func siteBusy(host string, pace fetch.Pace) message.Notice {
	if pace.PerSecond == 0 {
		return message.New("waiting/site", message.Values{"site": host})
	}
	return message.New("waiting/site.pace", message.Values{"site": host, "pace": perSecond(pace)})
}

// siteRows says how many rows wait for the pages of a site, and at which pace those are requested.
func siteRows(host string, pace fetch.Pace, rows int) message.Notice {
	return message.New("waiting/site.rows", message.Values{
		"site": host, "pace": perSecond(pace), "rows": strconv.Itoa(rows),
	})
}

func perSecond(pace fetch.Pace) string {
	return strconv.FormatFloat(math.Round(100*pace.PerSecond)/100, 'f', -1, 64)
}

// Blockers returns a word that changes when the state of what a job waits for may have changed: the
// authority, or one of the sites whose pages it fetches.
func (k *Work) Blockers(ctx context.Context, sites []string) string {
	var word strings.Builder
	word.WriteString(k.options.Outages.Now(ctx).Reason)
	for _, site := range sites {
		pace := k.holds.paces(ctx, site)[site]
		paused := tasks.SitePaused(pace.Pause, "", nil) != nil
		_, _ = fmt.Fprint(&word, " ", paused, pace.Delayed)
	}
	return word.String()
}
