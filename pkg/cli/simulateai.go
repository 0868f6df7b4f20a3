package cli

import (
	"cmp"
	"time"

	"ushuru/pkg/ai/aitest"
)

// simulateAI is the SIMULATED language model. Its faults can also be changed
// while it runs: POST /_sim/faults.
type simulateAI struct {
	Listen  address  `default:"127.0.0.1:8092" help:"Address to listen on."`
	Key     string   `help:"The only key that is accepted; any by default."`
	Models  []string `help:"The models that exist; all by default."`
	Context int      `help:"Tokens that fit into the model."`
	Seed    uint64   `help:"Of random faults."`

	Latency        time.Duration `help:"Before each answer."`
	Jitter         time.Duration `help:"Up to so much more."`
	Next           int           `help:"Misbehave so many times only."`
	ErrorRate      float64       `help:"Share of requests that fail, 0 to 1."`
	Status         int           `help:"HTTP status of failing requests."`
	RetryAfter     int           `help:"Seconds that failing requests ask to wait."`
	HTML           bool          `name:"html" help:"Answer with a gateway's page."`
	DropConnection bool          `help:"Close without an answer."`
	EmptyChoices   bool          `help:"Answer without choices."`
	CutJSON        bool          `name:"cut-json" help:"Cut the answer in the middle."`
	Refusal        bool          `help:"Refuse to answer."`
	Filtered       bool          `help:"Have the content filter cut the answer."`
	WrongID        bool          `name:"wrong-id" help:"Choose what is no candidate."`
	OtherSchema    bool          `help:"Answer by another schema."`
	Obey           bool          `help:"Obey instructions in the data."`
	InventField    bool          `help:"Of a sheet: add a property of its own."`
	InventValue    bool          `help:"Of a sheet: give values outside the closed lists."`
	SeeSheet       bool          `help:"Take any picture for a sheet, and make up a car."`
	OtherDigits    bool          `help:"Of a sheet: give other values at the second look."`
}

// Run is called by kong.
func (c *simulateAI) Run(r *run) error {
	simulator := aitest.New(aitest.Options{
		Key: c.Key, Models: c.Models, Context: c.Context, Seed: c.Seed, Faults: aitest.Faults{
			Latency: aitest.Duration(c.Latency), Jitter: aitest.Duration(c.Jitter), Next: c.Next, ErrorRate: c.ErrorRate,
			Status: c.Status, RetryAfter: c.RetryAfter, HTML: c.HTML, DropConnection: c.DropConnection,
			EmptyChoices: c.EmptyChoices, CutJSON: c.CutJSON, Refusal: c.Refusal, Filtered: c.Filtered,
			WrongID: c.WrongID, OtherSchema: c.OtherSchema, Obey: c.Obey,
			InventField: c.InventField, InventValue: c.InventValue, SeeSheet: c.SeeSheet, OtherDigits: c.OtherDigits,
		},
	})
	return r.simulate(c.Listen, simulator, func(base string) string {
		return "SIMULATED AI: AI_BASE_URL=" + base + aitest.Path + " AI_MODEL=simulated AI_API_KEY=" + cmp.Or(c.Key, "any")
	})
}
