package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

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

// decode decodes a part of a job's record.
func decode(job *jobs.Job, part string, data json.RawMessage, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("tasks: %s of job %s: %w", part, job.ID, err)
	}
	return nil
}
