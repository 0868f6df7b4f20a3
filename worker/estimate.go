package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ushuru/pkg/ai"
	"ushuru/pkg/cache"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/logs"
	"ushuru/pkg/match"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/pkg/pace"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// staleLifetime is how long an estimate of expired figures is cached.
const staleLifetime = time.Minute

// refusedDelay is how long a step waits that this worker cannot finish, because
// the authority refuses it: another worker may take it then.
const refusedDelay = 3 * time.Second

// aiRetryDelay is how long a batch row waits for an AI that does not say when it
// is available again.
const aiRetryDelay = time.Minute

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

// matchLabel finds the authority's label for the car.
func matchLabel(store *tra.Store, engine *tasks.Engine, matcher *match.Matcher, counts *metrics.Metrics) stepFunc {
	return func(ctx context.Context, job *jobs.Job) (any, error) {
		subject, err := tasks.SubjectOf(job)
		if err != nil {
			return nil, err
		}
		cat, err := store.Catalogue(ctx)
		if err == nil {
			if entries, known := cat.Of(subject.Car.Make); known && entries.Pending {
				err = fmt.Errorf("%w: nothing of %s", tra.ErrNoCatalogue, entries.Make.Name)
			}
		}
		if errors.Is(err, tra.ErrNoCatalogue) {
			// Only a worker in Tanzania can fetch it.
			return nil, tasks.Snooze(time.Second, errors.Join(err, enqueueSync(ctx, store, engine)))
		}
		if err != nil {
			return nil, err
		}
		choose := matcher.Choose
		if subject.ModelBody != "" {
			choose = func(_ context.Context, car vehicle.Car, cat *catalogue.Catalogue) (match.Choice, error) {
				return matcher.ChooseLabel(car, cat, subject.ModelBody)
			}
		}
		choice, err := choose(ctx, subject.Car, cat)
		if refused, ok := errors.AsType[*match.Error](err); ok {
			counts.Match("", "")
			choices := candidateChoices(matcher, subject.Car, cat, refused.Candidates)
			return refuse(ctx, job, subject, refused, choices, store.Known())
		}
		if err != nil || choice.MatchedBy == vehicle.ByCode || choice.MatchedBy == vehicle.ByCaller {
			return matchOutput{Choice: choice}, err
		}
		return matchOutput{Choice: choice, Others: otherEntries(ctx, matcher, subject.Car, cat, choice, store.Known())}, nil
	}
}

// otherEntries returns the entries that the car may be instead of the chosen one,
// with their taxes as far as they are known.
func otherEntries(
	ctx context.Context, matcher *match.Matcher, car vehicle.Car, cat *catalogue.Catalogue, choice match.Choice,
	known authorityAnswers,
) []vehicle.Candidate {
	others := matcher.Others(car, cat, choice)
	priced := refusedMatch{Candidates: others, Choices: candidateChoices(matcher, car, cat, others)}
	_ = priced.price(ctx, car, known) // what is not known has no price
	return priced.Candidates
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
			_, got, err := taxOf(groupCtx, car, r.Choices[i], answers)
			if err == nil {
				r.Candidates[i].TotalTaxesInTZS = &got.Tax.TotalTaxesInTZS
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

func isNoSuchVehicle(err error) bool {
	failure, ok := errors.AsType[*tra.Error](err)
	return ok && failure.Kind == tra.NoSuchVehicle
}

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

// authorityAnswers are the answers of the authority: all of a *tra.Authority, or
// those that are cached of a *tra.Known.
type authorityAnswers interface {
	match.Lister
	Details(ctx context.Context, mk catalogue.Make, v catalogue.Vehicle) (tra.Calculation, error)
}

// staleAnswers are the authority's answers that have expired, for the time in which
// it cannot be asked.
type staleAnswers struct {
	answers authorityAnswers
	outages *tra.Outages
}

// calculate requests the authority's tax and computes the total cost. While the
// authority cannot be asked, it uses figures that have expired and says so.
func calculate(
	authority authorityAnswers, stale staleAnswers, costs *cost.Tables, turns *pace.Processor, counts *metrics.Metrics,
) stepFunc {
	return func(ctx context.Context, job *jobs.Job) (any, error) {
		subject, err := tasks.SubjectOf(job)
		if err != nil {
			return nil, err
		}
		var found matchOutput
		if err := output(job, tasks.StepMatch, &found); err != nil {
			return nil, err
		}
		if job.Class == jobs.Bulk {
			ctx = tra.ForBatch(ctx)
		}
		choice := found.Choice
		if refused := found.Refused; refused != nil {
			if err := refused.price(ctx, subject.Car, authority); err != nil {
				return nil, authorityFailure(err)
			}
			err := &match.Error{Notice: refused.Notice, Candidates: refused.Candidates}
			return nil, matchFailure(err, job.Class, subject)
		}
		matched, got, err := taxOf(ctx, subject.Car, choice, authority)
		if isAway(err) && stale.outages.Now(ctx).Reason != "" {
			if old, figures, staleErr := taxOf(ctx, subject.Car, choice, stale.answers); staleErr == nil {
				matched, got, err = old, figures, nil
			}
		}
		if err != nil {
			return nil, authorityFailure(matchFailure(err, job.Class, subject))
		}
		if matched.Confidence == vehicle.Low {
			matched.Candidates = found.Others
		}
		counts.Match(string(matched.MatchedBy), string(matched.Confidence))
		end, err := beginComputing(ctx, turns, job)
		if err != nil {
			return nil, err
		}
		defer end()
		return subject.Result(estimateOf(subject.Car, matched, got, costs))
	}
}

// estimateOf returns the estimate of a car with its tax.
func estimateOf(car vehicle.Car, matched vehicle.Matched, got tra.Calculation, costs *cost.Tables) vehicle.Estimate {
	now := time.Now()
	valid := validUntil(now, got.At)
	if got.Stale {
		valid = now.Add(staleLifetime)
	}
	estimate := vehicle.Estimate{
		Object: vehicle.ObjectEstimate, Car: car, Matched: matched, Tax: got.Tax, AsOf: localtime.Stamp(got.At), Stale: got.Stale,
	}
	estimate.Warnings = slices.Concat(got.Warnings, simulated(got.Tax))
	estimate = costs.Apply(estimate, vehicle.Terms{}, now)
	estimate.ValidUntil = localtime.Stamp(valid)
	return estimate
}

// taxOf resolves a car and returns its tax.
func taxOf(
	ctx context.Context, car vehicle.Car, choice match.Choice, answers authorityAnswers,
) (vehicle.Matched, tra.Calculation, error) {
	matched, tuple, err := match.Resolve(ctx, car, choice, answers)
	if err != nil {
		return matched, tra.Calculation{}, err
	}
	got, err := answers.Details(ctx, choice.Make, tuple)
	return matched, got, err
}

// isAway reports whether an error means that the authority was not asked or did not
// answer. A rate limit is over within a second.
func isAway(err error) bool {
	if throttled, ok := errors.AsType[*tra.ThrottleError](err); ok {
		return throttled.Reason != tra.RateUsedUp
	}
	if failed, ok := errors.AsType[*tra.Error](err); ok {
		return failed.Kind == tra.Refused || failed.Kind == tra.Unavailable || failed.Kind == tra.Certificate
	}
	return errors.Is(err, tra.ErrNotKnown)
}

// validUntil returns when an estimate expires that is made now of figures that
// the authority gave then. Figures of an earlier quarter have expired.
func validUntil(now, then time.Time) time.Time {
	return cache.EstimateExpiry(now, tra.QuarterEnd(then))
}

// authorityFailure returns what an error of the authority means for the job: a
// snooze, a permanent or a transient failure.
func authorityFailure(err error) error {
	if throttled, ok := errors.AsType[*tra.ThrottleError](err); ok {
		return throttledFailure(throttled)
	}
	failure, ok := errors.AsType[*tra.Error](err)
	switch {
	case !ok:
		return err
	case tra.IsImplausible(err): // it has been requested again; a later request can succeed
		return tasks.Permanent(message.New("error/authority_implausible", nil), err)
	}
	switch failure.Kind {
	case tra.NoSuchVehicle:
		return tasks.Permanent(message.New("error/not_listed.no_tax", nil), err)
	case tra.Refused:
		return tasks.Snooze(refusedDelay, refusedFailure(err))
	case tra.Unavailable, tra.Certificate, tra.BadAnswer:
	}
	return tasks.Transient(message.New("error/authority_unavailable", nil), failure.RetryAfter, err)
}

// refusedFailure is the failure of a job whose deadline comes before any worker is
// answered.
func refusedFailure(cause error) error {
	return tasks.Transient(message.New("error/authority_refused", nil), 0, cause)
}

// throttledFailure snoozes a step whose call was not made. When the deadline comes
// first, the job fails with the sentence that says why.
func throttledFailure(throttled *tra.ThrottleError) error {
	switch throttled.Reason {
	case tra.JustRefused:
		return tasks.Snooze(refusedDelay, refusedFailure(throttled))
	case tra.BreakerOpen:
		unavailable := message.New("error/authority_unavailable", nil)
		return tasks.Snooze(throttled.RetryAfter, tasks.Transient(unavailable, 0, throttled))
	case tra.RateUsedUp:
	}
	return tasks.Snooze(throttled.RetryAfter, throttled)
}

// simulated warns when the figures come from a simulated authority.
func simulated(tax vehicle.Tax) []vehicle.Warning {
	if !strings.HasPrefix(tax.ReferenceNumber, "SIM") {
		return nil
	}
	return []vehicle.Warning{message.New("warning/simulated", nil)}
}

// output decodes the output of an earlier step.
func output(job *jobs.Job, step string, into any) error {
	if err := json.Unmarshal(job.Outputs[step], into); err != nil {
		return fmt.Errorf("worker: output of %s: %w", step, err)
	}
	return nil
}
