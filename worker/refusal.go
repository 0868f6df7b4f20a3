package worker

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ushuru/pkg/ai"
	"ushuru/pkg/jobs"
	"ushuru/pkg/logs"
	"ushuru/pkg/match"
	"ushuru/pkg/message"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// matchOutput is the output of the step match: the chosen label, or a refusal
// whose candidates the step calculate prices.
type matchOutput struct {
	match.Choice
	Others  []vehicle.Candidate `json:"others,omitempty"` // that the car may be instead
	Refused *refusedMatch       `json:"refused,omitempty"`
}

// refusedMatch is a refusal to match, with the choice of each candidate.
type refusedMatch struct {
	message.Notice

	Candidates []vehicle.Candidate `json:"candidates"`
	Choices    []match.Choice      `json:"choices"` // in the order of Candidates
}

// refuse prices the candidates of a refusal with the answers that are known, and
// fails the step. When the caller wants all prices and some are not known, the
// refusal is the output of the step, and the step calculate prices them.
func refuse(
	ctx context.Context, job *jobs.Job, subject tasks.Subject,
	refused *match.Error, choices []match.Choice, known authorityAnswers,
) (any, error) {
	r := &refusedMatch{refused.Notice, refused.Candidates, choices}
	complete := r.price(ctx, subject.Car, known) == nil
	if !complete && subject.PriceCandidates && refused.Code != match.AIUnavailable {
		return matchOutput{Refused: r}, nil
	}
	refused.Candidates = r.Candidates
	return nil, matchFailure(refused, job.Class, subject)
}

// candidateChoices returns the choice of each candidate, as if the caller had
// chosen it. The make of the candidate replaces an unknown one.
func candidateChoices(
	matcher *match.Matcher, car vehicle.Car, cat *catalogue.Catalogue, candidates []vehicle.Candidate,
) []match.Choice {
	choices := make([]match.Choice, len(candidates))
	for i, candidate := range candidates {
		car.Make = candidate.Make
		choices[i], _ = matcher.ChooseLabel(car, cat, candidate.ModelBody) // an empty Choice has no price
	}
	return choices
}

// price sets the total taxes of the candidates. It returns an error when the
// answers for some of them are not available; a candidate that the authority does
// not list for the car stays without a price.
func (r *refusedMatch) price(ctx context.Context, car vehicle.Car, answers authorityAnswers) error {
	if car.Year == 0 {
		return nil // no candidate can have a price
	}
	var unknown atomic.Bool
	group, groupCtx := errgroup.WithContext(ctx)
	for i := range r.Candidates {
		if r.Choices[i].Label == "" || r.Candidates[i].TotalTaxesInTZS != nil {
			continue
		}
		group.Go(logs.Guarded(func() error {
			total, err := totalTaxes(groupCtx, car, r.Choices[i], answers)
			if err == nil {
				r.Candidates[i].TotalTaxesInTZS = &total.TotalTaxesInTZS
			}
			if _, unlisted := errors.AsType[*match.Error](err); unlisted || isNoSuchVehicle(err) {
				return nil
			}
			if errors.Is(err, tra.ErrNotKnown) {
				unknown.Store(true) // the others are still priced
				return nil
			}
			return err
		}))
	}
	err := group.Wait()
	if err == nil && unknown.Load() {
		return tra.ErrNotKnown
	}
	return err
}

func totalTaxes(ctx context.Context, car vehicle.Car, choice match.Choice, answers authorityAnswers) (vehicle.Tax, error) {
	_, tuple, err := match.Resolve(ctx, car, choice, answers)
	if err != nil {
		return vehicle.Tax{}, err
	}
	got, err := answers.Details(ctx, choice.Make, tuple)
	return got.Tax, err
}

func isNoSuchVehicle(err error) bool {
	failure, ok := errors.AsType[*tra.Error](err)
	return ok && failure.Kind == tra.NoSuchVehicle
}

// aiRetryDelay is how long a batch row waits for an AI that does not say when it
// is available again.
const aiRetryDelay = time.Minute

// matchFailure makes a refusal to match a permanent failure of the job, with the
// car and the candidates. When the AI that must decide is not available, a batch row
// waits. A person chooses among the candidates at once, unless the AI has just failed for
// the first time.
func matchFailure(err error, class jobs.Class, subject tasks.Subject) error {
	failure, ok := errors.AsType[*match.Error](err)
	if !ok {
		return err
	}
	permanent := tasks.Permanent(failure.Notice, nil)
	details, err := json.Marshal(subject.Refuse(failure.Candidates))
	if err != nil {
		return err
	}
	permanent.Details = details
	if failure.Code != match.AIUnavailable {
		return permanent
	}
	permanent.Permanent, permanent.Cause, permanent.After = false, failure.Unwrap(), aiDelay(failure)
	if class == jobs.Bulk {
		return tasks.Snooze(max(permanent.After, aiRetryDelay), permanent)
	}
	permanent.Final = !isBriefFailure(failure.Unwrap())
	return permanent
}

// isBriefFailure reports whether the AI may answer when it is asked again at once: its endpoints
// have failed no more than once in a row, and not by using up their time.
func isBriefFailure(err error) bool {
	if _, spent := errors.AsType[*ai.BudgetError](err); spent {
		return false
	}
	failed, ok := errors.AsType[*ai.Error](err)
	return !ok || failed.Retryable() && failed.Kind != ai.Timeout && failed.RetryAfter <= ai.MinCooldown
}

// aiDelay returns the delay that the error of an AI asks for; 0 without one.
func aiDelay(err error) time.Duration {
	if failed, ok := errors.AsType[*ai.Error](err); ok {
		return failed.RetryAfter
	}
	return 0
}
