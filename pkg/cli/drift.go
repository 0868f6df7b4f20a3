package cli

import (
	"ushuru/pkg/cli/console"
	"ushuru/pkg/drift"
	"ushuru/pkg/plainjson"
)

// driftCommand shows the operator what the drift detector found.
type driftCommand struct {
	redisConfig
	console.Answer
}

// Run is called by kong. It prints JSON lines: the state first, then the
// answers that differ, the last first.
func (c *driftCommand) Run(r *run) error {
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	store := drift.NewStore(conn.Client())
	state, err := store.State(r.ctx)
	if err != nil {
		return err
	}
	samples, err := store.Samples(r.ctx)
	if err != nil {
		return err
	}
	if c.Text() || c.CSV() {
		return c.Print(r.Streams, map[string]any{"state": state, "samples": samples})
	}
	out := plainjson.NewEncoder(r.Out)
	if err := out.Encode(state); err != nil {
		return err
	}
	for _, sample := range samples {
		if err := out.Encode(sample); err != nil {
			return err
		}
	}
	return nil
}
