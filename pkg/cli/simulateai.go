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
	Key     string   `help:"The only accepted API key; any key by default."`
	Models  []string `help:"Models that exist; all by default."`
	Context int      `help:"Tokens that fit into the model."`
	Seed    uint64   `help:"Random seed."`

	Latency        time.Duration `help:"Delay before each answer."`
	Jitter         time.Duration `help:"Maximum additional random delay."`
	Next           int           `help:"Number of faulty answers; 0 means no limit."`
	ErrorRate      float64       `help:"Share of requests that fail, 0 to 1."`
	Status         int           `help:"HTTP status of failing requests."`
	RetryAfter     int           `help:"Seconds in Retry-After of failing requests."`
	HTML           bool          `name:"html" help:"Answer with a gateway's error page."`
	DropConnection bool          `help:"Close the connection without an answer."`
	EmptyChoices   bool          `help:"Answer without choices."`
	CutJSON        bool          `name:"cut-json" help:"Cut the answer in the middle."`
	Refusal        bool          `help:"Refuse to answer."`
	Filtered       bool          `help:"Let the content filter cut the answer."`
	WrongID        bool          `name:"wrong-id" help:"Answer with an id that is not a candidate."`
	OtherSchema    bool          `help:"Answer in another schema."`
	Obey           bool          `help:"Obey instructions in the data."`
	InventField    bool          `help:"Add a property to the reading of a sheet."`
	InventValue    bool          `help:"Give values outside the closed lists of a sheet."`
	SeeSheet       bool          `help:"Treat any image as a sheet and invent a car."`
	OtherDigits    bool          `help:"Give other values in the second reading of a sheet."`
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
