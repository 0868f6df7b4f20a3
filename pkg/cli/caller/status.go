package caller

import (
	"context"
	"fmt"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
)

// Status prints whether the API serves requests, and TRA's calculator answers.
type Status struct {
	clientConfig
	console.Format
}

// Run is called by kong.
func (c *Status) Run(r *console.Console) error {
	return c.call(r, func(ctx context.Context, api *client.Client) error {
		if err := api.Ready(ctx); err != nil {
			return err
		}
		status, err := api.TRAStatus(ctx)
		if err != nil {
			return err
		}
		rules := "not checked yet"
		switch {
		case status.Details.RulesAgree == nil:
		case *status.Details.RulesAgree:
			rules = fmt.Sprintf("as its answers (%d checked)", status.Details.Checked)
		default:
			rules = fmt.Sprintf("differ from its answers (%d of %d)", status.Details.Differed, status.Details.Checked)
		}
		return console.Show(r.Streams, c.Format, status.JSON, []console.Field{
			{Name: "API", Value: c.APIURL + ": ready"},
			{Name: "TRA", Value: console.OneLine(status.Status, status.Reason, status.Message)},
			{Name: "Latency", Value: (time.Duration(status.LatencyMs) * time.Millisecond).String()},
			{Name: "Last answer", Value: timeOf(status.LastSuccessAt)},
			{Name: "Last failure", Value: console.OneLine(timeOf(status.LastFailureAt), status.ErrorKind)},
			{Name: "Tax rules", Value: rules},
		})
	})
}

func timeOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return console.Time(*t)
}
