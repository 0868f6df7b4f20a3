// Package service is the commands about a running service: of a caller, over the API with an
// API key, and of the operator, over Redis. Commands that a caller and the operator share choose
// between the API and Redis: see target.
package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/operate"
	"ushuru/pkg/redisx"
)

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

var errNoMode = console.Usage("set USHURU_KEY to an API key, or REDIS_URL to act as the operator")

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
