package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/fair"
	"ushuru/pkg/jobs"
	"ushuru/pkg/match"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/throttle"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// ask is what a worker far away from Redis must know to ask the authority for the tax
// of a car: what match.Resolve reads of the car and of the choice.
type ask struct {
	Make        tra.Make          `json:"make"`
	Label       string            `json:"label"`
	MatchedBy   vehicle.MatchedBy `json:"matchedBy,omitempty"`
	LabelCC     int               `json:"labelCC,omitempty"`
	Electrified []string          `json:"electrified,omitempty"`

	Year    int    `json:"year"`
	Code    string `json:"code,omitempty"`
	Model   string `json:"model,omitempty"`
	Version string `json:"version,omitempty"`
	CC      int    `json:"cc,omitempty"`
	Fuel    string `json:"fuel,omitempty"`
}

// askOf returns the ask of a job whose car is matched; nil for any other step.
func askOf(job *jobs.Job, step string) json.RawMessage {
	if step != tasks.StepCalculate {
		return nil
	}
	subject, err := tasks.SubjectOf(job)
	var found matchOutput
	if err != nil || output(job, tasks.StepMatch, &found) != nil || found.Refused != nil {
		return nil
	}
	car, choice := subject.Car, found.Choice
	data, err := plainjson.Encode(ask{
		Make: choice.Make, Label: choice.Label, MatchedBy: choice.MatchedBy, LabelCC: choice.EngineCC,
		Electrified: choice.Electrified,
		Year:        car.Year, Code: car.RawModelCode, Model: car.Model, Version: car.Version, CC: car.EngineCC, Fuel: car.Fuel,
	})
	if err != nil {
		return nil
	}
	return data
}

func (a ask) choice() match.Choice {
	return match.Choice{
		Make: a.Make, Label: a.Label, MatchedBy: a.MatchedBy, EngineCC: a.LabelCC, Electrified: a.Electrified,
	}
}

func (a ask) car() vehicle.Car {
	return vehicle.Car{
		Year: a.Year, RawModelCode: a.Code, Model: a.Model, Version: a.Version, EngineCC: a.CC, Fuel: a.Fuel,
	}
}

// farSteps runs the steps of a worker far away from Redis that has the role authority.
type farSteps struct {
	*stepHandler

	answers authorityAnswers
	// failed returns the step calculate for an authority whose answer is an error.
	failed func(err error) stepFunc
}

// ProcessTask asks the authority while it claims the step, stores the answers, and
// gives the step to a worker near Redis. When that fails, or the task has no ask, it
// runs the step here.
func (f *farSteps) ProcessTask(ctx context.Context, task *asynq.Task) error {
	payload, err := tasks.ParseTaskPayload(task.Payload())
	if err != nil || payload.Ask == nil {
		return f.stepHandler.ProcessTask(ctx, task)
	}
	var asked ask
	if err := json.Unmarshal(payload.Ask, &asked); err != nil {
		return fmt.Errorf("worker: ask: %w: %w", err, asynq.SkipRetry)
	}
	run := f.begin(ctx, task, payload)
	defer run.end()
	err = f.calculate(ctx, run, asked)
	result, claimErr := run.claim()
	switch {
	case claimErr != nil: // the reply may have been lost after the claim was stored
		return errors.Join(claimErr, f.release(ctx, payload, run.name, false))
	case result != jobs.Claimed:
		return f.notClaimed(ctx, payload, result)
	case err == nil:
		return f.handOver(ctx, run)
	}
	f.log.Debug("step is run far away from Redis", "job", payload.Job, "step", payload.Step, "error", err)
	handler := *f.stepHandler
	if isAuthorityError(err) { // the call is not made again
		handler.override = f.failed(err)
	}
	run.end()
	return handler.ProcessTask(ctx, task)
}

// isAuthorityError reports whether an error is the authority's, or says that it was not
// called.
func isAuthorityError(err error) bool {
	_, throttled := errors.AsType[*throttle.Error](err)
	_, failed := errors.AsType[*tra.Error](err)
	return throttled || failed
}

// failedAnswers are the answers of an authority that has failed.
type failedAnswers struct{ err error }

// Years implements match.Lister.
func (f failedAnswers) Years(context.Context, tra.Make, string) ([]int, error) { return nil, f.err }

// Countries implements match.Lister.
func (f failedAnswers) Countries(context.Context, tra.Make, string, int) ([]string, error) {
	return nil, f.err
}

// Fuels implements match.Lister.
func (f failedAnswers) Fuels(context.Context, tra.Make, string, int, string) ([]string, error) {
	return nil, f.err
}

// Capacities implements match.Lister.
func (f failedAnswers) Capacities(context.Context, tra.Make, string, int, string, string) ([]string, error) {
	return nil, f.err
}

// Details implements authorityAnswers.
func (f failedAnswers) Details(context.Context, tra.Make, tra.Vehicle) (tra.Calculation, error) {
	return tra.Calculation{}, f.err
}

// farRun is one run of a step by a worker far away from Redis.
type farRun struct {
	payload  tasks.TaskPayload
	answered tasks.Answered
	name     string // of the claim
	bulk     bool
	claim    func() (jobs.ClaimResult, error) // waits for the claim
	end      func()
	announce tra.Announcement // that the step is answered
}

// begin starts to claim the step and to take the place of its task.
func (f *farSteps) begin(ctx context.Context, task *asynq.Task, payload tasks.TaskPayload) *farRun {
	name := f.newClaim()
	queue, _ := asynq.GetQueueName(ctx)
	run := &farRun{payload: payload, name: name, bulk: tasks.IsBulkQueue(queue)}
	run.answered = tasks.Answered{Type: task.Type(), Bulk: run.bulk, Task: payload}
	turn := f.beginTurn(ctx, task, payload)
	claimed := make(chan struct{})
	var result jobs.ClaimResult
	var err error
	go func() {
		defer close(claimed)
		result, err = f.jobs.ClaimBlind(ctx, payload.Job, payload.Step, payload.Attempt, f.worker, name)
		if turnErr := turn.wait(); err == nil && result == jobs.Claimed {
			err = turnErr
		}
	}()
	run.claim = func() (jobs.ClaimResult, error) {
		<-claimed
		return result, err
	}
	run.end = sync.OnceFunc(func() { //nolint:contextcheck // turn has the context of the task
		<-claimed
		turn.end()
		f.dropClaim(name)
	})
	return run
}

// errNotClaimed means that a step is not this run's, so that nothing is asked for it.
var errNotClaimed = errors.New("worker: the step is not claimed")

// calculate asks the authority for the tax of a vehicle, and returns when the answers
// are stored.
func (f *farSteps) calculate(ctx context.Context, run *farRun, asked ask) error {
	policy, _ := tasks.PolicyOf(run.answered.Type)
	ctx, cancel := context.WithTimeout(ctx, policy.Timeout)
	defer cancel()
	message, err := run.answered.Message()
	if err != nil {
		return err
	}
	run.announce.Channel, run.announce.Message = jobs.ChannelAnswered, message
	ctx, finish := tra.Begin(fair.WithOwner(ctx, run.payload.Key), tra.SessionOptions{
		Bulk: run.bulk,
		Allow: func() error {
			if result, err := run.claim(); err != nil || result != jobs.Claimed {
				return errors.Join(errNotClaimed, err)
			}
			return nil
		},
		Announce: &run.announce,
	})
	started := time.Now()
	_, _, err = taxOf(ctx, asked.car(), asked.choice(), f.answers)
	if err := errors.Join(err, finish()); err != nil {
		return err
	}
	f.log.Info("authority asked", "job", run.payload.Job, "step", run.payload.Step, "attempt", run.payload.Attempt,
		"key", run.payload.Key, "duration", time.Since(started))
	return nil
}

// handOver gives an answered step to a worker near Redis, unless one got the message
// already, and releases the claim.
func (f *farSteps) handOver(ctx context.Context, run *farRun) error {
	return f.retryWrite(ctx, func(ctx context.Context) error {
		if run.announce.Received() == 0 {
			if err := f.engine.EnqueueAnswered(ctx, run.answered); err != nil {
				return err
			}
		}
		return f.jobs.Release(ctx, run.payload.Job, run.payload.Step, run.name, false)
	})
}

// listenAnswered enqueues the steps that workers far away have got the answers for,
// until ctx ends.
func (w *Worker) listenAnswered(ctx context.Context) {
	heard := func(message string) error {
		answered, err := tasks.ParseAnswered(message)
		switch {
		case err != nil:
			return err
		case answered.Asked != nil:
			err = w.engine.StopAsking(ctx, *answered.Asked)
		default:
			err = w.engine.EnqueueAnswered(ctx, answered)
		}
		if err != nil && ctx.Err() == nil { // the sweeper finds the step
			w.options.Log.Warn("answered step was not enqueued", "error", err)
		}
		return nil
	}
	redisx.Listener{
		Client: w.options.Redis, Channel: jobs.ChannelAnswered, Heard: heard, Refused: w.options.Refused,
	}.Run(ctx)
}
