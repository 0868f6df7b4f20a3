// Package cli is the command line: it reads the configuration and calls the
// packages that do the work. All settings are in one table, config.go.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/app"
	"ushuru/pkg/cli/caller"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/operator"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/logs"
	"ushuru/pkg/money"
	"ushuru/pkg/redisx"
	"ushuru/pkg/trace"
)

// Streams are the standard streams of the process.
type Streams = console.Streams

// commands is the whole command line.
type commands struct {
	common
	kong.Plugins // of the laboratory

	Demo     demoCommand     `cmd:"" group:"buy" help:"Run everything in one process with a SIMULATED authority, listing site and AI."`
	Estimate caller.Estimate `cmd:"" group:"buy" help:"Estimate a listing through the API."`
	Quote    caller.Quote    `cmd:"" group:"buy" help:"Estimate a car that you describe."`
	Compare  caller.Compare  `cmd:"" group:"buy" help:"Compare two listings through the API."`
	Report   caller.Report   `cmd:"" group:"buy" help:"Read an auction sheet through the API."`
	Bill     caller.Bill     `cmd:"" group:"buy" help:"Check a clearing agent's bill against what is owed for a car."`
	Years    caller.Years    `cmd:"" group:"buy" help:"Compare the taxes of a model by year of manufacture."`
	Read     readCommand     `cmd:"" group:"buy" help:"Print the car that a listing page describes."`
	Sheet    sheetCommand    `cmd:"" group:"buy" help:"Read an auction sheet and print the report, in English or Kiswahili."`

	Batch    service.Batch   `cmd:"" group:"bulk" help:"Estimate every row of a table of listings or cars: XLSX, CSV, JSON."`
	Batches  service.Batches `cmd:"" set:"noun=batch" set:"nouns=batches" group:"bulk" help:"List, show, follow, cancel and retry your batches; as the operator, those of all API keys."` //nolint:staticcheck // kong reads each set
	Jobs     service.Jobs    `cmd:"" set:"noun=job" set:"nouns=jobs" group:"bulk" help:"List, show, follow, cancel and retry your jobs; as the operator, those of all API keys."`         //nolint:staticcheck // kong reads each set
	Webhooks webhooksCommand `cmd:"" set:"noun=webhook" set:"nouns=webhooks" group:"bulk" help:"Create, list and test your webhooks; as the operator, act on those of all keys."`         //nolint:staticcheck // kong reads each set
	Match    matchCommand    `cmd:"" group:"bulk" help:"Find the TRA labels of cars given as JSON lines."`

	Serve     serveCommand     `cmd:"" group:"operate" help:"Run the API and the workers in one process."`
	API       apiCommand       `cmd:"" group:"operate" name:"api" help:"Run the API."`
	Worker    workerCommand    `cmd:"" group:"operate" help:"Run the workers."`
	Keys      operator.Keys    `cmd:"" group:"operate" help:"Create, list, limit, rotate and revoke API keys."`
	Status    service.Status   `cmd:"" group:"operate" help:"Print whether the API and TRA's calculator can be asked; as the operator, what the console shows."`
	Drift     operator.Drift   `cmd:"" group:"operate" help:"Print TRA answers that differ from the known tax rules."`
	Costs     costsCommand     `cmd:"" group:"operate" help:"Check a file of costs."`
	Authority authorityCommand `cmd:"" group:"operate" help:"Check the calls of TRA's calculator; sync the copy of its makes and labels by hand."`
	Cache     operator.Cache   `cmd:"" group:"operate" help:"Delete what is cached (operator)."`
	Sites     operator.Sites   `cmd:"" group:"operate" help:"Pause and resume the fetching of a site (operator)."`
	Queues    operator.Queues  `cmd:"" group:"operate" help:"Pause and resume the queues of tasks (operator)."`
	AI        operator.AI      `cmd:"" group:"operate" name:"ai" help:"Print and set the AI's budget of this day (operator)."`
	Breaker   operator.Breaker `cmd:"" group:"operate" help:"Close the breakers of the workers that call TRA (operator)."`
	Actions   operator.Actions `cmd:"" group:"operate" help:"List what operators did."`
	Config    configCommand    `cmd:"" group:"operate" help:"Check and print the settings of a process."`
	Health    healthCommand    `cmd:"" group:"operate" help:"Ask the process beside this one whether it can serve, at its ADMIN_ADDR; for containers."`
	Doctor    doctorCommand    `cmd:"" group:"operate" help:"Look at all that a process needs: settings, Redis, TRA, AI, clock, names, processes, page."`

	Simulate   simulateCommand           `cmd:"" group:"develop" help:"Run a simulator on a port."`
	Version    versionCommand            `cmd:"" group:"develop" help:"Print version, commit and date; --version does the same."`
	Man        manCommand                `cmd:"" group:"develop" help:"Print the manual page: ushuru man | man -l -."`
	Completion kongcompletion.Completion `cmd:"" group:"develop" help:"Print how to turn on completion in bash, zsh or fish."`
}

// StopSignals are the signals that end the program in order. A SIGHUP, from a terminal
// that closes, would end it without a word; one that nohup has it ignore stays
// ignored.
func StopSignals() []os.Signal {
	stopping := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		stopping = append(stopping, syscall.SIGHUP)
	}
	return stopping
}

// Main runs a command line and returns the exit status. It ends early when
// ctx does. more are pointers to structs with the commands of another program, which kong
// adds: their Run gets a *service.Session and a Matching.
func Main(ctx context.Context, args []string, streams Streams, more ...any) int {
	return execute(args, &run{ctx: ctx, Streams: streams}, more...)
}

// execute runs a command line. It completes r with the common settings.
func execute(args []string, r *run, more ...any) (status int) {
	defer func() { // kong ends the program by itself after --help
		if p := recover(); p != nil {
			exit, ok := p.(console.ExitError)
			if !ok {
				panic(p)
			}
			status = exit.Status
		}
	}()
	root := commands{Plugins: more}
	parser, err := newParser(&root, kong.Writers(r.Out, r.Err),
		kong.Exit(func(status int) { panic(console.ExitError{Status: status}) }))
	if err != nil {
		return fail(r.Streams, console.ExitFailure, err)
	}
	kongcompletion.Register(parser)
	emptyIsUnset(parser.Model)
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "--version": // as a flag it would be that of a car in quote
		args = append([]string{"version"}, args[1:]...)
	}
	parsed, err := parser.Parse(args)
	if err == nil {
		err = checkRanges(parsed.Flags())
	}
	if err != nil {
		return fail(r.Streams, console.ExitUsage, fmt.Errorf("%w\nRun \"ushuru --help\" for the usage", err))
	}
	r.common, r.log = root.common, logs.New(r.Err, logs.Options{Level: root.LogLevel, Text: root.LogFormat == "text"})
	redis.SetLogger(redisLog{r.log})
	trace.LogTo(r.log)
	r.warnSecretFlags(parsed)
	r.unknown = unknownSettings(settingNames(parser.Model), os.Environ())
	shared := &console.Console{Streams: r.Streams, Ctx: r.ctx}
	session := &service.Session{
		Console: shared, Log: r.log, Production: r.common.production(),
		Connect: func(config service.Redis) (*redisx.Conn, error) { return r.connect(config, false, false) },
	}
	err = parsed.Run(r, shared, session, Matching(r.matching))
	r.cleanup.Run()
	var exit console.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.Status
	case err != nil:
		return fail(r.Streams, console.StatusOf(err), err)
	}
	return console.ExitOK
}

// run is one run of the program: what its commands share.
type run struct {
	Streams
	ctx     context.Context //nolint:containedctx // the life of the process, not of a call
	common  common
	log     *slog.Logger
	cleanup app.Cleanup
	unknown []string // sentences about variables that look like settings and are none
}

var errNoRedis = console.Usage("set REDIS_URL to the address of a Redis server, for example redis://localhost:6379")

func newParser(root *commands, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(root, append(options,
		kong.Name("ushuru"),
		kong.Description("Import tax and drive-away cost of used Japanese cars in Tanzania, from the URL of a listing.\n\n"+
			"Exit status: 0 success; 1 failure; 2 wrong usage; 3 the API answers with an error, or a page is not a readable "+
			"listing; 4 rows of a batch failed, or what was waited for has not ended."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "buy", Title: "Buy: what a car costs"},
			{Key: "bulk", Title: "Bulk: lists, jobs and events"},
			{Key: "operate", Title: "Operate: run and look after the service"},
			{Key: "develop", Title: "Develop: simulators and tools"},
		}),
		kong.Resolvers(kong.ResolverFunc(secretFromFile)),
		kong.TypeMapper(reflect.TypeFor[*money.Number](), kong.MapperFunc(readNumber)),
	)...)
}

// readNumber reads a flag with a number. The API checks its range.
func readNumber(c *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := c.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	number, err := money.ParseNumber(text)
	if err != nil {
		return fmt.Errorf("%q is not a number; example: 2650.5", text)
	}
	target.Set(reflect.ValueOf(&number))
	return nil
}

// emptyIsUnset removes empty settings from the environment, where a template
// of a deployment may have left them.
func emptyIsUnset(app *kong.Application) {
	for _, node := range append(app.Leaves(true), app.Node) {
		for _, flag := range node.Flags {
			for _, name := range flag.Envs {
				if value, set := os.LookupEnv(name); set && value == "" {
					_ = os.Unsetenv(name)
				}
			}
		}
	}
}

func fail(streams Streams, status int, err error) int {
	_, _ = fmt.Fprintln(streams.Err, "ushuru:", err)
	return status
}

// connect connects; embedded permits the Redis inside the process, loading a Redis that does not serve yet.
func (r *run) connect(config service.Redis, embedded, loading bool) (*redisx.Conn, error) {
	conn, err := redisx.Open(r.ctx, redisx.Options{
		URL: string(config.RedisURL), AllowEmbedded: embedded && !r.common.production(),
		AllowLoading: loading, RefuseExposed: r.common.production(),
	})
	if errors.Is(err, redisx.ErrEmbeddedRefused) {
		return nil, errNoRedis
	}
	if errors.Is(err, redisx.ErrExposed) {
		return nil, fmt.Errorf("%w in production: put one into REDIS_URL (redis://user:password@host:6379) or use rediss://", err)
	}
	if err != nil {
		return nil, err
	}
	if conn.Exposed() {
		r.log.Warn("Redis on another host has neither password nor TLS: everybody in the network can read and change everything")
	}
	r.cleanup.Add(func() { _ = conn.Close() })
	for _, warning := range conn.Warnings(r.ctx) {
		r.log.Warn(warning)
	}
	return conn, nil
}

// newLog returns the log of a command, as JSON lines.
func newLog(w io.Writer, level string) *slog.Logger { return logs.New(w, logs.Options{Level: level}) }

// redisLog logs the messages of the Redis client for debugging: its errors are
// returned to the callers as well.
type redisLog struct{ log *slog.Logger }

// Printf implements the client's logging interface.
func (l redisLog) Printf(ctx context.Context, format string, values ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, values...), "from", "redis client")
}

// What was built, as the build says:
//
//	go build -ldflags "-X ushuru/pkg/cli.buildVersion=1.4.0 -X ushuru/pkg/cli.buildCommit=… -X ushuru/pkg/cli.buildDate=…"
//
// What it does not say is what Go recorded of the repository.
var buildVersion, buildCommit, buildDate string

// versionCommand prints the version.
type versionCommand struct{ console.Format }

// Run is called by kong.
func (c versionCommand) Run(r *run) error {
	version, commit, date := Build()
	record := map[string]string{"version": version, "commit": commit, "date": date}
	return console.Said(record, "ushuru %s, commit %s, %s", version, commit, date)(r.Streams, c.Format)
}

// Build returns what was built. The date is that of the build, or of the commit.
func Build() (version, commit, date string) {
	version, commit, date = buildVersion, buildCommit, buildDate
	if info, ok := debug.ReadBuildInfo(); ok {
		version = cmp.Or(version, info.Main.Version)
		recorded := map[string]string{}
		for _, setting := range info.Settings {
			recorded[setting.Key] = setting.Value
		}
		if commit == "" && recorded["vcs.revision"] != "" {
			commit = recorded["vcs.revision"]
			if recorded["vcs.modified"] == "true" {
				commit += " (modified)"
			}
		}
		date = cmp.Or(date, recorded["vcs.time"])
	}
	return cmp.Or(version, "unknown"), cmp.Or(commit, "unknown"), cmp.Or(date, "date unknown")
}

// shortVersion returns the version of the program for lists of processes, else its
// commit.
func shortVersion() string {
	const digits = 12
	_, commit, _ := Build()
	return cmp.Or(buildVersion, commit[:min(len(commit), digits)])
}
