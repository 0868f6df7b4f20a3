package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/operate"
	"ushuru/pkg/tra"
)

// Sync requests a sync of a worker with the role authority, because
// TRA answers addresses in Tanzania only.
type Sync struct {
	service.Redis
	console.Answer

	Accept bool          `help:"Take lists that differ so much from the previous ones that they would be quarantined."`
	Wait   time.Duration `default:"6m"                                                                                 help:"How long to wait for the worker."`
}

// syncPollInterval is how often the command looks whether the sync has ended.
const syncPollInterval = 250 * time.Millisecond

// Run is called by kong. It prints the report of the sync as JSON.
func (c *Sync) Run(s *service.Session) error {
	o, err := s.Operator(c.Redis)
	if err != nil {
		return err
	}
	id, err := o.Sync(s.Ctx, tra.SyncOptions{All: true, Accept: c.Accept})
	if err != nil {
		return err
	}
	outcome, err := c.await(s.Ctx, o, id)
	if err != nil {
		return err
	}
	if err := c.Print(s.Streams, outcome.Report); err != nil {
		return err
	}
	switch {
	case outcome.Error != "":
		return errors.New(outcome.Error)
	case outcome.Report.Quarantined != "":
		return errors.New("the lists differ so much from the previous ones that those stay; " +
			"check them on TRA's website, and take them with --accept")
	}
	return nil
}

// await returns the outcome of the requested sync.
func (c *Sync) await(ctx context.Context, o *operate.Operator, id string) (*tra.SyncOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	ticker := time.NewTicker(syncPollInterval)
	defer ticker.Stop()
	for {
		outcome, err := o.SyncOutcome(ctx, id)
		if outcome != nil || err != nil && ctx.Err() == nil {
			return outcome, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no worker with the role authority has ended the sync: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}
