package cli

import (
	"fmt"

	"ushuru/pkg/bill"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cost"
)

// costsCommand is about the tables of costs.
type costsCommand struct {
	Check     costsCheck     `cmd:"" help:"Check a file for COST_TABLES and name every problem."`
	Calibrate costsCalibrate `cmd:"" help:"Compare paid bills with the tables, and print the file for COST_TABLES that would hold nine in ten."`
}

type costsCheck struct {
	console.Format

	File string `arg:"" type:"existingfile" help:"JSON file."`
}

// Run is called by kong.
func (c *costsCheck) Run(r *run) error {
	if _, err := cost.Load(c.File); err != nil {
		return err
	}
	record := map[string]any{"file": c.File, "valid": true}
	return console.Said(record, "%s can be used as COST_TABLES.", c.File)(r.Streams, c.Format)
}

type costsCalibrate struct {
	costConfig
	File string `arg:"" type:"existingfile" help:"Paid bills: JSON lines of date, car and lines, or CSV with the columns bill, date, name, amount."`
}

// Run is called by kong. The file that it prints takes effect only when somebody names it
// in COST_TABLES.
func (c *costsCalibrate) Run(r *run) error {
	tables, err := cost.Load(c.CostTables)
	if err != nil {
		return err
	}
	file, err := r.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	bills, err := bill.ReadPaid(file)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	all, override, err := bill.Calibrate(tables, bills)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	to := console.Streams{Out: r.Err, Err: r.Err} // the file alone is the output
	const header = "CHARGE\tBILLS\tBIAS %\tINSIDE %\tIN THE FILE"
	err = console.Listed(header, func(c bill.Calibrated) []any {
		return []any{c.Code, c.Bills, c.Bias, c.Inside, c.Enough}
	})(all)(to, console.Format{})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(r.Out, string(override))
	return err
}

// configCosts prints the fees in force and the tax rules that are not.
type configCosts struct {
	costConfig
	console.Format
}

// Run is called by kong.
func (c *configCosts) Run(r *run) error {
	tables, err := cost.Load(c.CostTables)
	if err != nil {
		return console.ExitError{Status: fail(r.Streams, console.ExitUsage, err)}
	}
	rows := append(tables.Rows(), tables.OtherRules()...)
	const header = "CHARGE\tVALUE\tDAYS\tCOUNTRIES\tSTANDING\tDATE\tSOURCE"
	return console.Listed(header, func(row cost.Row) []any {
		return []any{row.Code, row.Value, row.Days, row.Countries, row.Standing, row.Date, row.Source}
	})(rows)(r.Streams, c.Format)
}
