package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// manCommand prints the manual page, of which the packages are made.
type manCommand struct{}

// Run is called by kong.
func (manCommand) Run(r *run, parsed *kong.Context) error {
	version, _, date := Build()
	day, _, _ := strings.Cut(date, "T")
	page := manPage{}
	page.linef(`.TH USHURU 1 "%s" "ushuru %s" "User Commands"`, day, version)
	page.write(parsed.Model)
	_, err := io.WriteString(r.Out, page.String())
	return err
}

// manPage is a manual page in the macros of man(7).
type manPage struct{ strings.Builder }

func (p *manPage) linef(format string, values ...any) { _, _ = fmt.Fprintf(p, format+"\n", values...) }

// text writes a paragraph of plain text.
func (p *manPage) text(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			p.linef(".PP")
			continue
		}
		p.linef("%s", roff(line))
	}
}

// roff returns a text as a line without meaning for the formatter.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return text
}

func (p *manPage) write(app *kong.Application) {
	about, rest, _ := strings.Cut(app.Help, "\n\n")
	p.linef(".SH NAME\nushuru \\- %s", roff(about))
	p.linef(".SH SYNOPSIS\n.B ushuru\n.I command\n[flags]\n.SH DESCRIPTION")
	p.text(rest)
	p.linef(".PP\nA setting in brackets is the variable of the environment that a flag is read from. Flags of every command:")
	p.flags(app.Flags)
	group := ""
	for _, node := range app.Children {
		if node.Hidden {
			continue
		}
		if node.Group != nil && node.Group.Title != group {
			group = node.Group.Title
			p.linef(".SH %s", roff(strings.ToUpper(group)))
		}
		for _, leaf := range append([]*kong.Node{node}, node.Leaves(true)...) {
			if leaf.Leaf() {
				p.linef(".SS %s", roff(leaf.Summary()))
				p.text(leaf.Help)
				p.flags(leaf.Flags)
			}
		}
	}
}

// flags writes flags with what they mean.
func (p *manPage) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if !flag.Hidden {
			p.linef(".TP\n.B %s", roff(strings.TrimSpace(flag.String())))
			p.text(strings.TrimSpace(flag.Help + envs(flag)))
		}
	}
}

func envs(flag *kong.Flag) string {
	if len(flag.Envs) == 0 {
		return ""
	}
	return " [" + strings.Join(flag.Envs, ", ") + "]"
}
