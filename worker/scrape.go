package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"ushuru/pkg/cache"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/listing"
	"ushuru/pkg/localtime"
	"ushuru/pkg/logs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// maxPageMemory is the memory in bytes that the trees of all pages which are read at once may
// take, and so the most that one page may.
const maxPageMemory = 256 << 20

// maxPauseWait is after how long a row looks again whether its site still pauses: an
// operator can end a pause of hours.
const maxPauseWait = 10 * time.Second

// maxHang is how long a person waits for a site that does not answer: the car can be described
// by hand, or its page sent.
const maxHang = 45 * time.Second

var errTooSlow = errors.New("worker: slow pages of the same key have all the places that one key may have")

// scraper reads listings: pages that it fetches, or that callers sent.
type scraper struct {
	client *fetch.Client
	jobs   *jobs.Store
	cache  *cache.Cache
	log    *slog.Logger
	slow   *slowSteps
	turns  *pace.Processor

	memory *semaphore.Weighted // bytes, of all pages that are read at once

	sheetURL func(string) (string, error) // returns the canonical URL of a sheet
}

func newScraper(o Options) *scraper {
	return &scraper{
		o.Fetch, o.Jobs, o.Cache, o.Log, newSlowSteps(o.Concurrency), o.Processor,
		semaphore.NewWeighted(maxPageMemory), o.SheetURL,
	}
}

// reading is a page as it was read: the output of the step, and the sources of its
// values as JSON for a request with explain.
type reading struct {
	Scraped     tasks.Scraped
	Explanation json.RawMessage
}

// explanation is what the API adds to an estimate on request.
type explanation struct {
	Explain []listing.Field `json:"explain"`
	Notes   []string        `json:"notes"`
	// NoteTexts are Notes in both languages.
	NoteTexts []vehicle.Sentence `json:"noteTexts"`
}

// scrape reads the listing of a job.
func (s *scraper) scrape(ctx context.Context, job *jobs.Job) (any, error) {
	var input tasks.EstimateInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return nil, fmt.Errorf("worker: input: %w", err)
	}
	read := s.readFetched
	if input.Page != "" {
		read = s.readUpload
	}
	// Only the site can be slow here: when Redis was away, all that waits to write would be
	// slow, and the next pages of the key would be put off.
	var got *reading
	err := s.slow.run(ctx, job, func(ctx context.Context) (err error) {
		got, err = read(ctx, input, job)
		return err
	})
	if err != nil {
		return nil, pageFailure(err, job, tasks.OfferPage)
	}
	now := time.Now()
	key := cache.ExplanationKey(input.PageKey())
	expires := cache.EstimateExpiry(now, tra.QuarterEnd(now))
	// The page is not fetched again because Redis does not take what was read.
	err = persist(ctx, 0, outageTimeout, func(ctx context.Context) error {
		return s.cache.For(job.Owner).PutRaw(ctx, key, got.Explanation, expires)
	})
	if err != nil {
		return nil, err
	}
	if input.Page == "" { // when the caller's was read, nobody knows
		got.Scraped.Car.ReadAt = localtime.Stamp(now)
	}
	if address := got.Scraped.Car.ConditionReportURL; address != nil {
		// The canonical URL names the image in full size and is the sheet's cache key.
		// The URL of a host that is not supported stays as the page gives it.
		if canonical, err := s.sheetURL(*address); err == nil {
			got.Scraped.Car.ConditionReportURL = &canonical
		}
	}
	return got.Scraped, nil
}

// readUpload reads the page that the caller sent. Nothing is fetched.
func (s *scraper) readUpload(ctx context.Context, input tasks.EstimateInput, job *jobs.Job) (*reading, error) {
	body, err := s.jobs.Attachment(ctx, job.ID)
	if errors.Is(err, jobs.ErrNoAttachment) {
		return nil, tasks.Permanent(message.New("error/page_expired", nil), err)
	}
	if err != nil {
		return nil, err
	}
	page := listing.FromFile(body, input.URL)
	// The page came as JSON, so it is UTF-8, whatever charset it declares.
	page.Header = http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	got, err := s.readPage(ctx, page, job)
	if err != nil {
		return nil, err
	}
	got.Scraped.Warnings = append(got.Scraped.Warnings, message.New("warning/pasted_page", nil))
	return got, nil
}

// readFetched fetches the page from its site and reads it.
func (s *scraper) readFetched(ctx context.Context, input tasks.EstimateInput, job *jobs.Job) (*reading, error) {
	page, err := s.client.Fetch(ctx, fetch.Request{
		URL: listing.FetchURL(input.URL), MaxBody: listing.MaxBytes, Bulk: job.Class == jobs.Bulk,
	})
	if err != nil {
		logFetch(ctx, s.log, "page", err)
		return nil, err
	}
	got, err := s.readPage(ctx, page, job)
	if err != nil {
		s.logPage(ctx, page, err)
	}
	return got, err
}

// logPage logs a page that was fetched and cannot be read. The log has its first
// bytes when it may not be the seller's page, but that of a gate, for example.
func (s *scraper) logPage(ctx context.Context, page *fetch.Page, err error) {
	code := ""
	if failed, ok := errors.AsType[*fetch.Error](err); ok {
		code = failed.Code
	}
	level := slog.LevelDebug
	if slices.Contains(ours, code) || page.Status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	s.log.Log(ctx, level, "page cannot be read", "call", "page", "status", page.Status, "code", code, "cause", cause(err),
		"answer", logs.Excerpt(page.Body))
}

// logFetch logs a page or a sheet that could not be fetched, unless no request was sent.
func logFetch(ctx context.Context, log *slog.Logger, call string, err error) {
	failed, ok := errors.AsType[*fetch.Error](err)
	if !ok || failed.Code == fetch.HostBusy || log == nil {
		return
	}
	level := slog.LevelDebug
	if failed.Retryable {
		level = slog.LevelError
	}
	log.Log(ctx, level, "site cannot be fetched", "call", call, "code", failed.Code,
		"cause", cause(err), "retry_after", failed.Wait)
}

// cause returns the private cause of an error, else its text.
func cause(err error) string {
	if failed, ok := errors.AsType[*fetch.Error](err); ok && failed.Cause != nil {
		return failed.Cause.Error()
	}
	return err.Error()
}

// readPage reads a page, fetched or sent, when the memory for it is free.
func (s *scraper) readPage(ctx context.Context, page *fetch.Page, job *jobs.Job) (*reading, error) {
	need := listing.Memory(page)
	if need > maxPageMemory {
		return nil, &fetch.Error{Notice: message.New("error/page_unreadable.memory", nil)}
	}
	end, err := beginComputing(ctx, s.turns, job) // first: who has memory computes
	if err != nil {
		return nil, err
	}
	defer end()
	if err := s.memory.Acquire(ctx, need); err != nil {
		return nil, fmt.Errorf("worker: wait for the memory of a page: %w", err)
	}
	defer s.memory.Release(need)
	read, err := listing.Read(ctx, page)
	if err != nil {
		return nil, notAgain(err, job)
	}
	explained, err := json.Marshal(explanation{
		Explain: append([]listing.Field{}, read.Fields...),
		Notes:   read.NotesInEnglish(), NoteTexts: append([]vehicle.Sentence{}, read.Notes...),
	})
	if err != nil {
		return nil, err
	}
	return &reading{tasks.Scraped{Car: read.Car, Warnings: read.Warnings}, explained}, nil
}

// notAgain makes the error of a page that took too long final when the step has failed
// before: the page would occupy one worker after another.
func notAgain(err error, job *jobs.Job) error {
	failed, ok := errors.AsType[*fetch.Error](err)
	if ok && failed.Code == listing.PageUnreadable && job.Steps[tasks.StepScrape].Retries > 0 {
		failed.Retryable = false
	}
	return err
}

// pageFailure returns what an error of fetching or reading a page or a sheet means
// for its job. While a site pauses, a job of a batch waits, and a person learns at
// once until when and what else to do.
func pageFailure(err error, job *jobs.Job, offer string) error {
	failure, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	if failure.Paused && !tasks.IsPatient(job) {
		if paused := tasks.SitePaused(failure.Wait, offer, failure.Cause); paused != nil {
			return paused
		}
	}
	transient := tasks.Transient(failure.Notice, failure.Wait, failure.Cause)
	transient.Final = failure.Code == fetch.FetchTimeout && !tasks.IsPatient(job) &&
		time.Since(job.Created)+fetch.DefaultTimeout > maxHang
	switch {
	case failure.Paused && (failure.Code == fetch.HostBusy || tasks.IsPatient(job)):
		return tasks.Snooze(min(failure.Wait, maxPauseWait), transient)
	case failure.Code == fetch.HostBusy:
		return tasks.Snooze(failure.Wait, transient)
	case failure.Retryable:
		return transient
	default:
		final := tasks.Permanent(failure.Notice, failure.Cause)
		final.Details = failure.Details
		return final
	}
}

// slowSteps bounds the steps of batches that take long: those of one key never have all
// the places of a worker. A step that takes longer than after needs a place among the
// slow ones; a step that gets none is tried again later, and so is one that begins while
// its key may have no more.
type slowSteps struct {
	places       *pace.Places // of the slow steps
	after, delay time.Duration
}

func newSlowSteps(places int) *slowSteps {
	return &slowSteps{pace.NewPlaces(places), 3 * time.Second, 5 * time.Second}
}

// run runs the part of a step that may be slow, bounded. The steps of people take turns
// instead.
func (s *slowSteps) run(ctx context.Context, job *jobs.Job, part func(context.Context) error) error {
	if job.Class != jobs.Bulk {
		return part(ctx)
	}
	if !s.places.Admits(job.Caller()) {
		return tasks.Snooze(s.delay, errTooSlow)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var release func() // of a slow step
	checked := make(chan struct{})
	timer := time.AfterFunc(s.after, func() {
		defer close(checked)
		var ok bool
		if release, ok = s.places.Try(job.Caller()); !ok {
			cancel(errTooSlow)
		}
	})
	err := part(ctx)
	if !timer.Stop() {
		<-checked
		if release != nil {
			release()
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errTooSlow) {
		return tasks.Snooze(s.delay, errTooSlow)
	}
	return err
}
