// Package service is the commands about a running service: of a caller, over the API with an
// API key, and of the operator, over Redis. Commands that a caller and the operator share choose
// between the API and Redis: see target.
package service

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the table of flags
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/datatable"
	"ushuru/pkg/money"
	"ushuru/pkg/operate"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
)

var errNoMode = console.Usage("set USHURU_KEY to an API key, or REDIS_URL to act as the operator")

// Redis says where Redis is.
type Redis struct {
	RedisURL console.Secret `env:"REDIS_URL" placeholder:"URL" help:"redis://, rediss://, redis-socket://, redis-sentinel:// or redis-cluster:// URL."`
}

// DayBudget is the budget of a day for the AI, which workers have and the operator changes.
type DayBudget struct {
	AIDailyTokens int64 `name:"ai-daily-tokens" env:"AI_DAILY_TOKENS" default:"2000000" range:"0..1000000000000" help:"Maximum tokens a day, Dar es Salaam time, for all workers; then matching continues without the AI; 0 means no limit."`
}

// KeyBudget is the budget of each API key for the AI.
type KeyBudget struct {
	KeyAITokens int64 `name:"key-ai-tokens" env:"KEY_AI_TOKENS" default:"500000" range:"0..1000000000000" help:"Maximum tokens of the AI a day and key; the same on API and workers; then its sheets are not read and its cars are matched without the AI; 0 means no limit."`
}

// Session is what the commands need of the program.
type Session struct {
	*console.Console

	Log        *slog.Logger
	Production bool
	// Connect opens a connection, which the program closes.
	Connect func(Redis) (*redisx.Conn, error)
}

// Operator returns an Operator for the person who runs the program.
func (s *Session) Operator(config Redis) (*operate.Operator, error) {
	conn, err := s.Connect(config)
	if err != nil {
		return nil, err
	}
	return operate.New(operate.Options{
		Redis: conn.Client(), Log: s.Log, Who: who(), AllowLoopback: !s.Production,
	}), nil
}

// who names the person who runs the program: "juma@server".
func who() string {
	name := os.Getenv("SUDO_USER")
	if current, err := user.Current(); err == nil {
		name = cmp.Or(name, current.Username)
	}
	host, _ := os.Hostname()
	return cmp.Or(name, "unknown") + "@" + cmp.Or(host, "unknown")
}

// Action is a command that only the operator has.
type Action struct {
	Redis
	console.Format
}

// Do prints what the operator has done or reads.
func (c Action) Do(s *Session, do func(context.Context, *operate.Operator) (console.Printed, error)) error {
	o, err := s.Operator(c.Redis)
	if err != nil {
		return err
	}
	result, err := do(s.Ctx, o)
	switch {
	case errors.Is(err, operate.ErrNotFound):
		return errors.New("there is none with that id")
	case errors.Is(err, batch.ErrNoneFailed):
		return errors.New("no row of the batch has failed")
	}
	if result == nil {
		return err
	}
	return errors.Join(err, result(s.Streams, c.Format))
}

// API says how the API is called.
type API struct {
	APIURL  string         `name:"url" env:"USHURU_URL" default:"http://127.0.0.1:8080" help:"Base URL of the API."`
	Key     console.Secret `env:"USHURU_KEY" help:"API key; ushuru keys create issues one."`
	Timeout time.Duration  `help:"Maximum time to wait for the result; without it 10m for one job, and no limit for a batch."`

	language string // of the answers; "" is English
}

// In returns the configuration for answers in a language.
func (c API) In(lang string) API {
	c.language = lang
	return c
}

// client returns a client of the API.
func (c API) client() (*client.Client, error) {
	if c.Key == "" {
		return nil, console.Usage("set USHURU_KEY to an API key")
	}
	return client.New(client.Options{URL: c.APIURL, Key: string(c.Key), Language: c.language})
}

// jobTimeout is how long a command waits for one job.
func (c API) jobTimeout() time.Duration { return cmp.Or(c.Timeout, 10*time.Minute) }

// forBatch returns the context in which a command waits for a batch, which may take hours:
// until the time that the caller gives it, if any.
func (c API) forBatch(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.Timeout)
}

// Call calls the API within the time that the caller gives it. An error of the API is
// printed.
func (c API) Call(s *Session, do func(ctx context.Context, api *client.Client) error) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.Ctx, c.jobTimeout())
	defer cancel()
	return s.PrintError(do(ctx, api))
}

// request is a command that only a caller has.
type request struct {
	API
	console.Format
}

// run prints what the API answers.
func (c request) run(s *Session, ask func(context.Context, *client.Client) (console.Printed, error)) error {
	return c.Call(s, func(ctx context.Context, api *client.Client) error {
		answer, err := ask(ctx, api)
		if err != nil {
			return err
		}
		return answer(s.Streams, c.Format)
	})
}

// target is a command that both a caller and the operator have. It calls the API with an API
// key, and without one it acts over Redis on the work of all keys.
type target struct {
	request
	Redis

	Operator bool `help:"Act as the operator, over REDIS_URL, on those of all API keys; without USHURU_KEY that is the default."`
}

// run prints what the API answers to a caller, or what the operator does or reads.
func (c target) run(
	s *Session, caller func(context.Context, *client.Client) (console.Printed, error),
	operator func(context.Context, *operate.Operator) (console.Printed, error),
) error {
	switch {
	case !c.Operator && c.Key != "":
		return c.request.run(s, caller)
	case !c.Operator && c.RedisURL == "":
		return errNoMode
	}
	return Action{c.Redis, c.Format}.Do(s, operator)
}

// awaited is what a command waits for: a job whose progress is shown.
type awaited struct {
	progress *console.Progress
	job      string // its id, once it is known
}

// Await calls an operation of the API and returns the result of its job, whose progress it shows;
// a silent one only on a terminal. When the command ends before the job does, the error says how to
// go on.
func Await[R, T any](
	s *Session, c API, silent bool,
	call func(*client.Client, context.Context, R, ...func(*client.Job)) (*T, error), request R,
) (*T, error) {
	api, err := c.client()
	if err != nil {
		return nil, err
	}
	w := &awaited{progress: s.NewProgress(silent)}
	defer w.progress.End()
	ctx, cancel := context.WithTimeout(s.Ctx, c.jobTimeout())
	defer cancel()
	result, err := call(api, ctx, request, w.show)
	if err == nil || ctx.Err() == nil || w.job == "" {
		return result, err
	}
	why, status := fmt.Sprintf("there is no result after %v", c.jobTimeout()), console.ExitRows
	if s.Ctx.Err() != nil {
		why, status = "stopped", console.ExitFailure
	}
	return nil, console.WithStatus(status,
		fmt.Errorf("%s; the job continues on the server: ushuru jobs follow %s", why, w.job))
}

// show shows the steps of a job.
func (w *awaited) show(job *client.Job) {
	w.job = job.ID
	if !job.HasEnded() {
		w.progress.Show(progressText(job))
	}
}

// progressText returns the steps of a job in one line.
func progressText(job *client.Job) string {
	steps := make([]string, 0, len(job.Progress.Steps))
	for _, step := range job.Progress.Steps {
		switch step.State {
		case "done":
			steps = append(steps, step.Name+" ✓")
		case "running", "failed":
			steps = append(steps, step.Name+" "+step.State)
		case "queued":
			steps = append(steps, step.Name+" …")
		case "skipped":
		default:
			steps = append(steps, step.Name)
		}
	}
	text := job.Kind + ": " + strings.Join(steps, ", ")
	if job.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", job.Attempt)
	}
	if job.Message != "" {
		text += "; " + job.Message
	}
	return text
}

// refusedBody is an error as the commands print it: that of the API, and the flag that it is about.
type refusedBody struct {
	client.Body

	Flag string `json:"flag,omitempty"`
}

// PrintError prints an error of the API in its form and returns the exit status for it. Any
// other error is returned as it is.
func (s *Session) PrintError(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	said := refused.Body
	said.Text, said.Values, said.WaitingFor, said.Job = nil, nil, "", "" // those of a job have more
	if said.Retryable == nil {
		said.Retryable = new(bool)
	}
	return s.Refuse(refusedBody{said, FlagOf(refused)})
}

//go:embed flags.csv
var flagsFile string

// flagsFor are the flags that help against an error of the API, by "param/" or "code/" and its name.
var flagsFor = sync.OnceValue(func() map[string]string {
	flags := map[string]string{}
	for _, row := range datatable.Rows(flagsFile) {
		flags[row[0]+"/"+row[1]] = row[2]
	}
	return flags
})

// FlagOf returns the flag that an error is about; "" when no flag helps.
func FlagOf(refused *client.Error) string {
	param, _, _ := strings.Cut(refused.Param, ".")
	return cmp.Or(flagsFor()["param/"+param], flagsFor()["code/"+refused.Code])
}

// Terms are what the caller decides about a cost.
type Terms struct {
	Rate    *money.Number     `placeholder:"TZS" help:"Exchange rate (TZS per USD) for costs other than tax."`
	Landing string            `placeholder:"DAY[..DAY]" help:"Day on which the car lands, or the first and the last one: 2027-01-20."`
	Cost    map[string]string `placeholder:"NAME=VALUE" help:"Your own figure, a field of costs in docs/estimate.md: freightUSD=900, inspection=false. Can be repeated."`
}

// Requested returns them as the API takes them.
func (f Terms) Requested() (terms client.Terms, err error) {
	terms.Rate = f.Rate
	if f.Landing != "" {
		from, to, isRange := strings.Cut(f.Landing, "..")
		if !isRange {
			to = from
		}
		terms.Landing = &vehicle.LandingDays{From: from, To: to}
	}
	terms.Costs, err = costFlags(f.Cost)
	return terms, err
}

// costFlags parses the figures of the caller; nil for none.
func costFlags(given map[string]string) (*vehicle.Costs, error) {
	if len(given) == 0 {
		return nil, nil //nolint:nilnil // none are given
	}
	values := make(map[string]json.RawMessage, len(given))
	for name, value := range given {
		values[name] = json.RawMessage(value)
	}
	var costs *vehicle.Costs
	data, err := json.Marshal(values)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&costs)
	}
	if err != nil {
		return nil, console.Usage("--cost: %w; examples: freightUSD=900, daysInPort=10, inspection=false", err)
	}
	return costs, nil
}
