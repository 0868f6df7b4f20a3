package cli

import (
	"cmp"

	"ushuru/pkg/ai/aitest"
)

// simulateAI is the SIMULATED language model. Its faults can also be changed
// while it runs: POST /_sim/faults.
type simulateAI struct {
	aitest.Faults

	Listen  address  `default:"127.0.0.1:8092" help:"Address to listen on."`
	Key     string   `help:"The only accepted API key; any key by default."`
	Models  []string `help:"Models that exist; all by default."`
	Context int      `help:"Tokens that fit into the model."`
	Seed    uint64   `help:"Random seed."`
}

// Run is called by kong.
func (c *simulateAI) Run(r *run) error {
	simulator := aitest.New(aitest.Options{
		Key: c.Key, Models: c.Models, Context: c.Context, Seed: c.Seed, Faults: c.Faults,
	})
	return r.simulate(c.Listen, simulator, func(base string) string {
		return "SIMULATED AI: AI_BASE_URL=" + base + aitest.Path + " AI_MODEL=simulated AI_API_KEY=" + cmp.Or(c.Key, "any")
	})
}
