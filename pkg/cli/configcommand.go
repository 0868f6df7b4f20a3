package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/redisx"
)

// configCommand is about the settings of a process.
type configCommand struct {
	Check configCheck `cmd:"" help:"Check the settings of a process and its Redis, without starting it."`
	Print configPrint `cmd:"" help:"Print the settings of a process and where they come from, without secrets."`
	Costs configCosts `cmd:"" help:"Print the fees in force, with sources and dates, and the tax rules that are announced or stayed."`
}

// process names the command whose settings are looked at.
type process struct {
	Process string `arg:"" default:"serve" enum:"serve,api,worker" help:"The command: serve, api or worker." optional:""`
}

// parse parses the environment as the command does.
func (c process) parse() (*commands, *kong.Context, error) {
	var root commands
	parser, err := newParser(&root, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		return nil, nil, err
	}
	parsed, err := parser.Parse([]string{c.Process})
	if err == nil {
		err = checkRanges(parsed.Flags())
	}
	return &root, parsed, err
}

// parts returns what the process runs.
func (c process) parts(root *commands) (sharedConfig, parts) {
	switch c.Process {
	case "api":
		return root.API.sharedConfig, parts{http: &root.API.httpConfig}
	case "worker":
		return root.Worker.sharedConfig, parts{worker: &root.Worker.workerConfig, authority: root.Worker.authorityConfig}
	}
	serve := &root.Serve
	return serve.sharedConfig, parts{http: &serve.httpConfig, worker: &serve.workerConfig, authority: serve.authorityConfig}
}

type configCheck struct {
	process
	console.Format

	Offline bool `help:"Do not connect to Redis."`
}

// Run is called by kong. It exits with 2 when the process would not start.
func (c *configCheck) Run(r *run) error {
	root, parsed, err := c.parse()
	if err == nil {
		err = c.check(r, root, parsed)
	}
	if err != nil {
		return console.ExitError{Status: fail(r.Streams, console.ExitUsage, err)}
	}
	record := map[string]any{"process": c.Process, "valid": true}
	return console.Said(record, "the settings of ushuru %s can be used", c.Process)(r.Streams, c.Format)
}

// check checks the settings as serve, api or worker does before it starts.
func (c *configCheck) check(r *run, root *commands, parsed *kong.Context) error {
	r.common = root.common
	for _, sentence := range unknownSettings(settingNames(parsed.Model), os.Environ()) {
		r.log.Warn(sentence)
	}
	shared, p := c.parts(root)
	_, err := r.prepare(shared, p)
	if err != nil || c.Offline || shared.RedisURL == "" {
		return err
	}
	_, err = r.connectServing(shared, p)
	return err
}

type configPrint struct {
	process
	console.Format
}

// printedSetting is a setting as it is printed.
type printedSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // default, environment or file
}

// Run is called by kong. It also prints settings that are refused, and why.
func (c *configPrint) Run(r *run) error {
	_, parsed, err := c.parse()
	if parsed == nil {
		return console.ExitError{Status: fail(r.Streams, console.ExitUsage, err)}
	}
	var all []printedSetting
	for _, flag := range parsed.Flags() {
		if len(flag.Envs) > 0 {
			all = append(all, printed(flag))
		}
	}
	printErr := console.Listed("SETTING\tVALUE\tFROM", func(s printedSetting) []any {
		return []any{s.Name, s.Value, s.Source}
	})(all)(r.Streams, c.Format)
	if err != nil {
		return errors.Join(printErr, console.ExitError{Status: fail(r.Streams, console.ExitUsage, err)})
	}
	return printErr
}

// printed returns a setting as it is printed: a secret is hidden, of a URL only what may
// be secret.
func printed(flag *kong.Flag) printedSetting {
	s := printedSetting{Name: strings.Join(flag.Envs, ", "), Value: fmt.Sprint(flag.Target.Interface()), Source: "default"}
	if isURL(flag) && flag.Target.String() != "" {
		s.Value = redisx.Redact(flag.Target.String())
	}
	for _, env := range flag.Envs {
		switch {
		case os.Getenv(env) != "":
			s.Source = "environment"
		case isSecret(flag) && os.Getenv(env+fileSuffix) != "":
			s.Source = "file " + os.Getenv(env+fileSuffix)
		}
	}
	return s
}
