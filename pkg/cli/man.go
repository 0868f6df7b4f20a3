package cli

import (
	"embed"
	"io"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// manCommand prints the manual page, of which the packages are made.
type manCommand struct{}

// Run is called by kong.
func (manCommand) Run(r *run, parsed *kong.Context) error {
	version, _, date := Build()
	day, _, _ := strings.Cut(date, "T")
	about, rest, _ := strings.Cut(parsed.Model.Help, "\n\n")
	return writeText(r.Out, "man.tmpl", map[string]any{
		"Version": version, "Day": day, "About": about, "Rest": rest, "App": parsed.Model,
	})
}

//go:embed templates
var templates embed.FS

// writeText writes a text of the templates.
func writeText(w io.Writer, name string, data any) error {
	last := "" // the group of the command before
	text, err := template.New(name).Funcs(template.FuncMap{
		"roff": roff, "text": roffText, "trim": strings.TrimSpace,
		"variables": func(flag *kong.Flag) string {
			if len(flag.Envs) == 0 {
				return ""
			}
			return " [" + strings.Join(flag.Envs, ", ") + "]"
		},
		// group returns the title above a command that begins a group.
		"group": func(node *kong.Node) string {
			if node.Group == nil || node.Group.Title == last {
				return ""
			}
			last = node.Group.Title
			return strings.ToUpper(last)
		},
		"leaves": func(node *kong.Node) []*kong.Node {
			if node.Leaf() {
				return []*kong.Node{node}
			}
			return node.Leaves(true)
		},
	}).ParseFS(templates, "templates/"+name)
	if err != nil {
		return err
	}
	return text.Execute(w, data)
}

// roffText returns a paragraph of plain text in the macros of man(7).
func roffText(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if line = roff(line); line == "" {
			line = ".PP"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// roff returns a text as a line without meaning for the formatter.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return text
}
