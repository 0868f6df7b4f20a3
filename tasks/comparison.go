package tasks

import (
	"encoding/json"
	"fmt"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

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
