package cli

import (
	"fmt"

	"ushuru/pkg/cost"
)

// costsCommand is about the tables of costs.
type costsCommand struct {
	Check costsCheck `cmd:"" help:"Check a file for COST_TABLES and name every problem."`
}

type costsCheck struct {
	File string `arg:"" type:"existingfile" help:"JSON file."`
}

// Run is called by kong.
func (c *costsCheck) Run(r *run) error {
	if _, err := cost.Load(c.File); err != nil {
		return err
	}
	_, err := fmt.Fprintf(r.Out, "%s can be used as COST_TABLES.\n", c.File)
	return err
}
