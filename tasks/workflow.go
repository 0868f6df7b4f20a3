package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// KindEstimate is the kind of a job that estimates one listing.
const KindEstimate = "estimate"

// The steps of an estimate.
const (
	StepScrape    = "scrape"
	StepMatch     = "match"
	StepCalculate = "calculate"
)

// deadlineBulk is the deadline of any job of a batch.
const deadlineBulk = 24 * time.Hour

// EstimateInput is the input of an estimate job. URL is canonical. Page is the
// hash of the page that the caller sent, "" when the page must be fetched; equal
// pages of one URL are equal inputs. ModelBody is the authority's label that the
// caller chose, "" when it must be found.
type EstimateInput struct {
	URL       string `json:"url"`
	Page      string `json:"page,omitempty"`
	ModelBody string `json:"modelBody,omitempty"`
	// Owner is the API key that alone may get the result, see For; "" lets all keys
	// share it.
	Owner string `json:"owner,omitempty"`
	// Known overrides values of the listing; nil overrides none.
	Known *vehicle.Known `json:"known,omitempty"`
	// PriceCandidates adds the taxes of all candidates to the error of a car that is
	// not matched. Without it only known answers are used.
	PriceCandidates bool `json:"priceCandidates,omitempty"`
}

// Scraped is the output of the step scrape.
type Scraped struct {
	Car      vehicle.Car       `json:"car"`
	Warnings []vehicle.Warning `json:"warnings,omitempty"`
}

// Next is what follows from a job's record: steps to run and children to wait for,
// or the end.
type Next struct {
	Steps    []string
	Children []Child
	Result   json.RawMessage
	Failed   *jobs.Error
}

// Child is a job whose end another job needs. Its kind and input identify it: a
// running job is joined, and a cached result is used.
type Child struct {
	Name  string // in the parent's record
	Kind  string
	Input any
}

// workflow is what the engine knows of a kind of job.
type workflow struct {
	// parts are its steps and children, in the order in which they come.
	parts []string
	// deadline of an interactive job: past it no step is retried.
	deadline time.Duration
	// advance is a pure function from the record so far to what comes next. Nil runs one step
	// after the other; the output of the last one, which knows those before it, is the result.
	advance func(*jobs.Job) (Next, error)
}

// workflows holds the workflow of each kind of job. The output of the step match is a
// match.Choice.
var workflows = map[string]workflow{
	KindEstimate: {[]string{StepScrape, StepMatch, StepCalculate}, 10 * time.Minute, nil},
	KindQuote:    {[]string{StepMatch, StepCalculate}, 10 * time.Minute, nil},
	KindReport:   {[]string{stepSummarize}, 10 * time.Minute, nil},
	KindCompare: {
		[]string{ChildCar1, ChildCar2, ChildSheet1, ChildSheet2, StepRecommend}, 30 * time.Minute, advanceCompare,
	},
}

// advance returns what follows from the record of a job of any kind.
func advance(job *jobs.Job) (next Next, err error) {
	flow, ok := workflows[job.Kind]
	switch {
	case !ok:
		return next, fmt.Errorf("tasks: no such kind of job %q", job.Kind)
	case flow.advance != nil:
		return flow.advance(job)
	}
	for _, step := range flow.parts {
		output, done := job.Outputs[step]
		if !done {
			return Next{Steps: []string{step}}, nil
		}
		next.Result = output
	}
	return next, nil
}

// KindQuote is the kind of a job that estimates a car that the caller describes.
// Its input is a vehicle.QuoteInput in canonical form, its steps are those of an
// estimate without scrape.
const KindQuote = "quote"

// Subject is the car that a job must find in the authority's database.
type Subject struct {
	Car         vehicle.Car
	ModelBody   string // the label that the caller chose; "" when it must be found
	FromRequest bool   // the caller described the car; there is no listing

	PriceCandidates bool // add the taxes of all candidates to a refusal

	input    json.RawMessage
	warnings []vehicle.Warning // of the listing
}

// SubjectOf returns the car of an estimate, once it was scraped, or of a quote.
func SubjectOf(job *jobs.Job) (Subject, error) {
	if job.Kind == KindQuote {
		var input vehicle.QuoteInput
		err := decode(job, "input", job.Input, &input)
		return Subject{
			Car: input.Car(), ModelBody: input.ModelBody, FromRequest: true, input: job.Input,
			PriceCandidates: input.PriceCandidates, warnings: yearWarning(input),
		}, err
	}
	var (
		input   EstimateInput
		scraped Scraped
	)
	err := errors.Join(decode(job, "input", job.Input, &input), decode(job, StepScrape, job.Outputs[StepScrape], &scraped))
	warnings := input.Known.Override(&scraped.Car, scraped.Warnings)
	return Subject{
		Car: scraped.Car, ModelBody: input.ModelBody, PriceCandidates: input.PriceCandidates,
		input: job.Input, warnings: warnings,
	}, err
}

// yearWarning warns of a year that is not that of manufacture.
func yearWarning(input vehicle.QuoteInput) []vehicle.Warning {
	if input.YearBasis == "" {
		return nil
	}
	key := "warning/registration_year.request"
	if input.YearBasis == "model" {
		key = "warning/model_year"
	}
	return []vehicle.Warning{message.New(key, message.Values{"year": strconv.Itoa(input.Year)})}
}

// Result returns the result of the job from what the authority said of the car.
func (s Subject) Result(calculated vehicle.Estimate) (any, error) {
	calculated.Car, calculated.Warnings = s.Car, message.Limit(slices.Concat(s.warnings, calculated.Warnings))
	if s.FromRequest {
		calculated.Object = vehicle.ObjectQuote
		quote := vehicle.Quote{Estimate: calculated}
		err := json.Unmarshal(s.input, &quote.Input)
		quote.Input.PriceCandidates = false // the result is cached for all
		return quote, err
	}
	var request EstimateInput
	err := json.Unmarshal(s.input, &request)
	calculated.Input.URL = request.URL
	return calculated, err
}

// Refusal is the Details of the error of a car that was not matched: what was
// found until then; or of a page that lists several cars.
type Refusal struct {
	Car        *vehicle.Car        `json:"car,omitempty"` // without its images
	Candidates []vehicle.Candidate `json:"candidates,omitempty"`
	Cars       []vehicle.ListedCar `json:"cars,omitempty"`
}

// Refuse returns the refusal of the subject with candidates.
func (s Subject) Refuse(candidates []vehicle.Candidate) Refusal {
	car := s.Car
	car.Images = []string{}
	return Refusal{Car: &car, Candidates: candidates}
}

// decode decodes a part of a job's record.
func decode(job *jobs.Job, part string, data json.RawMessage, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("tasks: %s of job %s: %w", part, job.ID, err)
	}
	return nil
}

// KindReport is the kind of a job that has the AI read an auction sheet. Its
// result is a sheet.Reading, which is the same for all languages.
const KindReport = "report"

// stepSummarize is the step of a report.
const stepSummarize = "summarize"

// ReportInput is the input of a report: the canonical URL of the sheet, or the
// hash of the file that a caller sent.
type ReportInput struct {
	URL    string `json:"url,omitempty"`
	Upload string `json:"upload,omitempty"`
	Owner  string `json:"owner,omitempty"` // the API key that alone may get the result, see For
}

// ID names the sheet in 32 hexadecimal digits. The id of a file cannot be
// guessed without the file, and differs from one API key to the other.
func (i ReportInput) ID() string {
	text := i.URL + "\n" + i.Upload
	if i.Owner != "" {
		text += "\n" + i.Owner
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// KindCompare is the kind of a job that compares two listings.
const KindCompare = "compare"

// StepRecommend is the step of a comparison.
const StepRecommend = "recommend"

// The children of a comparison, by name: two estimates and, of listings with an
// auction sheet, two reports.
const (
	ChildCar1   = "car1"
	ChildCar2   = "car2"
	ChildSheet1 = "sheet1"
	ChildSheet2 = "sheet2"
)

// CompareInput is the input of a comparison. The URLs are canonical.
type CompareInput struct {
	URL1 string `json:"url1"`
	URL2 string `json:"url2"`
	Rate string `json:"rate"` // shillings for a dollar, a decimal
	Lang string `json:"lang"` // en or sw
	// Owner is the API key that alone may get the result, see For.
	Owner string `json:"owner,omitempty"`

	Landing *vehicle.LandingDays `json:"landing,omitempty"`
	Costs   *vehicle.Costs       `json:"costs,omitempty"`
}

// Terms returns the terms on which the two costs are calculated.
func (i CompareInput) Terms() (terms vehicle.Terms, err error) {
	if terms.Rate, err = money.ParseDecimal(i.Rate); err != nil {
		return terms, fmt.Errorf("tasks: rate: %w", err)
	}
	terms.Landing, terms.Costs = i.Landing, i.Costs
	return terms, nil
}

// advanceCompare requests two estimates at once, the reports on the sheets that
// they name as soon as these are known, then the recommendation. A listing that
// cannot be estimated ends the comparison; a sheet that cannot be read does not.
func advanceCompare(job *jobs.Job) (Next, error) {
	if output, done := job.Outputs[StepRecommend]; done {
		return Next{Result: output}, nil
	}
	var input CompareInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return Next{}, fmt.Errorf("tasks: input of job %s: %w", job.ID, err)
	}
	if failed := comparisonError(job, input); failed != nil {
		return Next{Failed: failed}, nil //nolint:nilerr // the job's error is the news
	}
	var next Next
	for _, car := range []struct{ estimate, sheet, url string }{
		{ChildCar1, ChildSheet1, input.URL1},
		{ChildCar2, ChildSheet2, input.URL2},
	} {
		children, err := pendingChild(job, car.estimate, car.sheet, car.url)
		if err != nil {
			return Next{}, err
		}
		next.Children = append(next.Children, children...)
	}
	if len(next.Children) == 0 {
		next.Steps = []string{StepRecommend}
	}
	return next, nil
}

// pendingChild is the child that one side of a comparison waits for, if any.
func pendingChild(job *jobs.Job, estimate, sheet, url string) ([]Child, error) {
	car := job.Children[estimate]
	if !car.State.Ended() {
		return []Child{{estimate, KindEstimate, EstimateInput{URL: url}.For(job.Owner)}}, nil
	}
	var estimated vehicle.Estimate
	if err := json.Unmarshal(car.Result, &estimated); err != nil {
		return nil, fmt.Errorf("tasks: %s of job %s: %w", estimate, job.ID, err)
	}
	address := estimated.Car.ConditionReportURL
	if address == nil || job.Children[sheet].State.Ended() {
		return nil, nil
	}
	return []Child{{sheet, KindReport, ReportInput{URL: *address}.For(job.Owner)}}, nil
}

// comparisonError says which of the two listings could not be estimated and
// why; nil when none has failed.
func comparisonError(job *jobs.Job, input CompareInput) *jobs.Error {
	var failed *jobs.Error
	for _, car := range []struct{ child, n, url string }{
		{ChildCar1, "1", input.URL1},
		{ChildCar2, "2", input.URL2},
	} {
		child := job.Children[car.child]
		if !child.State.Ended() || child.State == jobs.Succeeded {
			continue
		}
		why := childError(child)
		said := why.Within("frame/car", message.Values{"n": car.n, "url": car.url})
		if failed != nil {
			failed.Notice = failed.Then(" ", said)
			continue
		}
		failed = &jobs.Error{Notice: said, Details: why.Details, Permanent: why.Permanent}
	}
	return failed
}

// childError is the error of a child that did not succeed.
func childError(child jobs.Child) *jobs.Error {
	if child.Error != nil {
		return child.Error
	}
	return &jobs.Error{Notice: message.New("error/cancelled", nil)}
}
