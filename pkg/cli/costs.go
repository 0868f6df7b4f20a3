package cli

import (
	"fmt"
	"strconv"

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
	return console.Say(r.Streams, c.Format, record, "%s can be used as COST_TABLES.", c.File)
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
	err = console.List(to, console.Format{}, all, header, func(c bill.Calibrated) []string {
		return []string{c.Code, strconv.Itoa(c.Bills), c.Bias, c.Inside, strconv.FormatBool(c.Enough)}
	})
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
	return console.List(r.Streams, c.Format, rows, header, func(row cost.Row) []string {
		return []string{row.Code, row.Value, row.Days, row.Countries, row.Standing, row.Date, row.Source}
	})
}
