package cli

import (
	"errors"
	"io"
	"os"
	"time"

	"ushuru/pkg/lab/report"
)

type benchAll struct {
	Markdown bool     `help:"Print Markdown, which is the only form."`
	Out      string   `type:"path" placeholder:"FILE" help:"File for the Markdown as well."`
	Short    bool     `help:"Small sizes: a minute, for a look whether everything runs; not for the aims."`
	Only     []string `placeholder:"NAME,…" help:"Only these parts, for example batch,line."`
	Note     string   `placeholder:"SENTENCE" help:"A sentence for the heading, for example about what else ran."`
}

// Run is called by kong.
func (c *benchAll) Run(r *run) error {
	if r.common.production() {
		return errors.New("the benchmark cannot run in production: its figures are simulated")
	}
	sizes, command := report.Full(), "ushuru bench all --markdown"
	if c.Short {
		sizes, command = report.Short(), command+" --short"
	}
	parts, err := report.Only(report.Parts(sizes, newLog(r.Err, "error")), c.Only)
	if err != nil {
		return err
	}
	_, commit, _ := build()
	heading := report.Heading{
		Short: c.Short, Note: c.Note, Command: command, Began: time.Now(), Machine: report.ThisMachine(r.ctx, commit),
	}
	sections, failed := report.Run(r.ctx, r.Err, parts)
	if r.ctx.Err() != nil {
		return failed
	}
	heading.Took, heading.Machine.LoadAfter = time.Since(heading.Began), report.Load()
	return errors.Join(c.write(r.Out, heading, sections), failed)
}

func (c *benchAll) write(out io.Writer, heading report.Heading, sections []report.Section) error {
	if c.Out == "" {
		return report.Markdown(out, heading, sections)
	}
	file, err := os.Create(c.Out)
	if err != nil {
		return err
	}
	err = report.Markdown(io.MultiWriter(out, file), heading, sections)
	return errors.Join(err, file.Close())
}
