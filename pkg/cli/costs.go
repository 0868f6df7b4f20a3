package cli

import (
	"errors"
	"fmt"
	"strconv"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cost"
	"ushuru/pkg/freight"
	"ushuru/pkg/listing/sites"
)

// costsCommand is about the tables of costs, and about what is learned from listings.
type costsCommand struct {
	Check   costsCheck   `cmd:"" help:"Check a file for COST_TABLES and name every problem."`
	Learned costsLearned `cmd:"" help:"Print what listings say of freight and volumes, with the number of listings."`
	Export  costsExport  `cmd:"" help:"Print what is learned of freight as a file for COST_TABLES."`
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

type costsExport struct {
	redisConfig
}

// Run is called by kong.
func (c *costsExport) Run(r *run) error {
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	rates, _, err := freight.New(conn.Client(), sites.NameOf, r.log).List(r.ctx)
	if err != nil {
		return err
	}
	if len(rates) == 0 {
		return errors.New("nothing is learned yet: it takes 20 listings of a site that state FOB, C&F and m³")
	}
	byOrigin := map[string][]cost.LearnedValue{}
	for _, l := range rates {
		byOrigin[l.Origin] = append(byOrigin[l.Origin], *l.Value(l.Site))
	}
	data, err := cost.LearnedFile(byOrigin)
	if err != nil {
		return err
	}
	_, err = r.Out.Write(data)
	return err
}

type costsLearned struct {
	redisConfig

	console.Format
}

// Run is called by kong.
func (c *costsLearned) Run(r *run) error {
	conn, err := r.redis(c.redisConfig, false)
	if err != nil {
		return err
	}
	rates, volumes, err := freight.New(conn.Client(), sites.NameOf, r.log).List(r.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.WriteJSON(r.Out, map[string][]freight.Learned{
			"freight": append([]freight.Learned{}, rates...), "volumes": append([]freight.Learned{}, volumes...),
		})
	}
	if len(rates)+len(volumes) == 0 {
		_, err := fmt.Fprintln(r.Out, "Nothing is learned yet: it takes 20 listings of a site that state FOB, C&F and m³.")
		return err
	}
	rows := make([][]string, 0, len(rates)+len(volumes))
	for _, l := range rates {
		rows = append(rows, learnedRow(l.Site+", "+l.Origin, "USD/m³", l))
	}
	for _, l := range volumes {
		rows = append(rows, learnedRow(l.Make+" "+l.Model+" "+l.Body, "m³", l))
	}
	return console.Table(r.Streams, "OF\tMEDIAN\tLOW\tHIGH\tUNIT\tLISTINGS\tFROM\tTO", rows)
}

func learnedRow(of, unit string, l freight.Learned) []string {
	return []string{
		of, l.Median.StringFixed(2), l.Low.StringFixed(2), l.High.StringFixed(2), unit, strconv.Itoa(l.Count), l.From, l.To,
	}
}
