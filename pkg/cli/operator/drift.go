package operator

import (
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/drift"
	"ushuru/pkg/plainjson"
)

// Drift is what the drift detector found.
type Drift struct {
	service.Redis
	console.Answer
}

// Run is called by kong. It prints JSON lines: the state first, then the
// answers that differ, the last first.
func (c *Drift) Run(s *service.Session) error {
	conn, err := s.Connect(c.Redis)
	if err != nil {
		return err
	}
	store := drift.NewStore(conn.Client())
	state, err := store.State(s.Ctx)
	if err != nil {
		return err
	}
	samples, err := store.Samples(s.Ctx)
	if err != nil {
		return err
	}
	if c.Text() || c.CSV() {
		return c.Print(s.Streams, map[string]any{"state": state, "samples": samples})
	}
	out := plainjson.NewEncoder(s.Out)
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
