package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"ushuru/pkg/jobs"
	"ushuru/pkg/vehicle"
)

// Kinds of job beside estimates. A reading is what an AI reads on a sheet,
// made once for all languages; a report is its text in one of them.
const (
	KindReading = "reading"
	KindReport  = "report"
	KindCompare = "compare"
)

// The steps of these.
const (
	StepRead      = "read"      // of a reading
	StepSummarize = "summarize" // of a report
	StepRecommend = "recommend" // of a comparison
)

// The children of these, by name.
const (
	ChildReading = "reading"
	ChildCar1    = "car1"
	ChildCar2    = "car2"
	ChildSheet1  = "sheet1" // readings: both languages share them
	ChildSheet2  = "sheet2"
)

// SheetInput names an auction sheet, and is the input of a reading: the
// canonical URL of the sheet, or the hash of the file that a caller sent.
type SheetInput struct {
	URL    string `json:"url,omitempty"`
	Upload string `json:"upload,omitempty"`
}

// ID names the sheet: 32 hexadecimal digits. Nobody guesses that of a file
// without having the file.
func (i SheetInput) ID() string {
	sum := sha256.Sum256([]byte(i.URL + "\n" + i.Upload))
	return hex.EncodeToString(sum[:16])
}

// Reading is the output of the step read, and the result of a reading.
type Reading struct {
	Report json.RawMessage `json:"report"` // a sheet.Report
}

// ReportInput is the input of a report.
type ReportInput struct {
	SheetInput

	Lang string `json:"lang"` // en or sw
}

// CompareInput is the input of a comparison. The URLs are canonical.
type CompareInput struct {
	URL1 string `json:"url1"`
	URL2 string `json:"url2"`
	Rate string `json:"rate"` // shillings for a dollar, a decimal
	Lang string `json:"lang"` // en or sw
}

// advanceReading: one step, whose output is the result.
func advanceReading(job *jobs.Job) (Next, error) {
	if output, done := job.Outputs[StepRead]; done {
		return Next{Result: output}, nil
	}
	return Next{Steps: []string{StepRead}}, nil
}

// advanceReport: the reading, then the text.
func advanceReport(job *jobs.Job) (Next, error) {
	if output, done := job.Outputs[StepSummarize]; done {
		return Next{Result: output}, nil
	}
	reading := job.Children[ChildReading]
	switch {
	case reading.State == jobs.Succeeded:
		return Next{Steps: []string{StepSummarize}}, nil
	case reading.State.Ended():
		return Next{Failed: childError(reading)}, nil
	}
	var input ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return Next{}, fmt.Errorf("tasks: input of job %s: %w", job.ID, err)
	}
	return Next{Children: []Child{{ChildReading, KindReading, input.SheetInput}}}, nil
}

// advanceCompare: two estimates at once, the readings of the sheets that they
// name as soon as they are known, then the recommendation. A listing that
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
		return []Child{{estimate, KindEstimate, EstimateInput{URL: url}}}, nil
	}
	var estimated vehicle.Estimate
	if err := json.Unmarshal(car.Result, &estimated); err != nil {
		return nil, fmt.Errorf("tasks: %s of job %s: %w", estimate, job.ID, err)
	}
	address := estimated.Car.ConditionReportURL
	if address == nil || job.Children[sheet].State.Ended() {
		return nil, nil
	}
	return []Child{{sheet, KindReading, SheetInput{URL: *address}}}, nil
}

// comparisonError says which of the two listings could not be estimated and
// why; nil when none has failed.
func comparisonError(job *jobs.Job, input CompareInput) *jobs.Error {
	var failed *jobs.Error
	for _, car := range []struct{ child, name, url string }{
		{ChildCar1, "Car 1", input.URL1},
		{ChildCar2, "Car 2", input.URL2},
	} {
		child := job.Children[car.child]
		if !child.State.Ended() || child.State == jobs.Succeeded {
			continue
		}
		why := childError(child)
		message := fmt.Sprintf("%s (%s): %s", car.name, car.url, why.Message)
		if failed != nil {
			failed.Message += " " + message
			continue
		}
		failed = &jobs.Error{Code: why.Code, Message: message, Details: why.Details}
	}
	return failed
}

// childError is the error of a child that did not succeed.
func childError(child jobs.Child) *jobs.Error {
	if child.Error != nil {
		return child.Error
	}
	return &jobs.Error{Code: "cancelled", Message: "The job was cancelled before it finished. Send the request again to start a new one."}
}
