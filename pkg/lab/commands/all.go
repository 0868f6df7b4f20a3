package commands

import (
	"bytes"
	"errors"
	"os"
	"time"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/lab/report"
)

type benchAll struct {
	Markdown bool     `help:"Print Markdown, which is the only form."`
	Out      string   `type:"path" placeholder:"FILE" help:"File for the Markdown as well, written after each part."`
	Quick    bool     `xor:"size" help:"Smaller sizes: about half the time."`
	Short    bool     `xor:"size" help:"Small sizes: a minute, for a look whether everything runs; not for the aims."`
	Only     []string `placeholder:"NAME,…" help:"Only these parts, for example batch,line."`
	Note     string   `placeholder:"SENTENCE" help:"A sentence for the heading, for example about what else ran."`
}

// Run is called by kong.
func (c *benchAll) Run(s *service.Session) error {
	if s.Production {
		return errors.New("the benchmark cannot run in production: its figures are simulated")
	}
	sizes, command := report.Full(), "go run ./pkg/lab bench all --markdown"
	switch {
	case c.Short:
		sizes, command = report.Short(), command+" --short"
	case c.Quick:
		sizes, command = report.Quick(), command+" --quick"
	}
	parts, err := report.Only(report.Parts(sizes, quiet(s)), c.Only)
	if err != nil {
		return err
	}
	_, commit, _ := cli.Build()
	heading := report.Heading{
		Sizes: sizes, Note: c.Note, Command: command, Began: time.Now(), Machine: report.ThisMachine(s.Ctx, commit),
	}
	var document bytes.Buffer
	_, failed := report.Run(s.Ctx, s.Err, parts, func(sections []report.Section) error {
		heading.Took, heading.Machine.LoadAfter = time.Since(heading.Began), report.Load()
		document.Reset()
		if err := report.Markdown(&document, heading, sections); err != nil || c.Out == "" {
			return err
		}
		return os.WriteFile(c.Out, document.Bytes(), 0o644) //nolint:gosec // everyone may read it
	})
	_, err = document.WriteTo(s.Out)
	return errors.Join(failed, err)
}
