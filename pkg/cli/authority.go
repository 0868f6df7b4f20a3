package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ushuru/pkg/plainjson"
	"ushuru/pkg/tra"
)

// authorityCommand is about the copy of the authority's lists.
type authorityCommand struct {
	Sync authoritySyncCommand `cmd:"" help:"Have a worker copy TRA's makes and labels now."`
}

// authoritySyncCommand requests a sync of a worker with the role authority, because
// TRA answers addresses in Tanzania only.
type authoritySyncCommand struct {
	redisConfig

	Accept bool          `help:"Take lists that differ so much from the previous ones that they would be quarantined."`
	Wait   time.Duration `default:"6m"                                                                                 help:"How long to wait for the worker."`
}

// syncPollInterval is how often the command looks whether the sync has ended.
const syncPollInterval = 250 * time.Millisecond

// Run is called by kong. It prints the report of the sync as JSON.
func (c *authoritySyncCommand) Run(r *run) error {
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	store := tra.NewStore(conn.Client(), tra.StoreOptions{})
	id, err := store.RequestSync(r.ctx, tra.SyncOptions{All: true, Accept: c.Accept})
	if err != nil {
		return err
	}
	outcome, err := c.await(r.ctx, store, id)
	if err != nil {
		return err
	}
	if err := plainjson.NewEncoder(r.Out).Encode(outcome.Report); err != nil {
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
func (c *authoritySyncCommand) await(ctx context.Context, store *tra.Store, id string) (*tra.SyncOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	ticker := time.NewTicker(syncPollInterval)
	defer ticker.Stop()
	for {
		outcome, err := store.RequestedSync(ctx, id)
		if err != nil || outcome != nil {
			return outcome, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no worker with the role authority has ended the sync: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}
