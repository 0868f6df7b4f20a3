package worker

import (
	"errors"
	"testing"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/tasks"
)

func TestAHostThatIsBusyCostsNoRetry(t *testing.T) {
	t.Parallel()
	err := pageFailure(&fetch.Error{Code: fetch.HostBusy, Message: "Later.", Retryable: true, Wait: time.Minute})
	if gate, ok := errors.AsType[*tasks.GateError](err); !ok || gate.After != time.Minute || tasks.IsFailure(err) {
		t.Errorf("%v", err)
	}
	if failure := tasks.JobError(err); failure.Code != fetch.HostBusy || failure.Message != "Later." {
		t.Errorf("a job that runs out of time meanwhile says %v", failure)
	}
}

func TestWhatRobotsForbidIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	err := pageFailure(&fetch.Error{Code: fetch.RobotsForbidden, Message: "No."})
	if failure, ok := errors.AsType[*tasks.StepError](err); !ok || !failure.Permanent || failure.Code != fetch.RobotsForbidden {
		t.Errorf("%v", err)
	}
}
