// Package service is the commands about a running service: of a caller, over the API with an
// API key, and of the operator, over Redis. Commands that a caller and the operator share choose
// between the API and Redis: see target.
package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// action is a command that only the operator has.
type action struct {
	Redis
	console.Format
}

// run prints what the operator has done or reads.
func (c action) run(s *Session, do func(context.Context, *operate.Operator) (printed, error)) error {
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

// clientConfig says how the API is called.
type clientConfig struct {
	APIURL  string         `name:"url" env:"USHURU_URL" default:"http://127.0.0.1:8080" help:"Base URL of the API."`
	Key     console.Secret `env:"USHURU_KEY" help:"API key; ushuru keys create issues one."`
	Timeout time.Duration  `help:"Maximum time to wait for the result; without it 10m for one job, and no limit for a batch."`

	language string // of the answers; "" is English
}

// in returns the configuration for answers in a language.
func (c clientConfig) in(lang string) clientConfig {
	c.language = lang
	return c
}

// client returns a client of the API.
func (c clientConfig) client() (*client.Client, error) {
	if c.Key == "" {
		return nil, console.Usage("set USHURU_KEY to an API key")
	}
	return client.New(client.Options{URL: c.APIURL, Key: string(c.Key), Language: c.language})
}

// jobTimeout is how long a command waits for one job.
func (c clientConfig) jobTimeout() time.Duration { return cmp.Or(c.Timeout, 10*time.Minute) }

// forBatch returns the context in which a command waits for a batch, which may take hours:
// until the time that the caller gives it, if any.
func (c clientConfig) forBatch(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.Timeout)
}

// call calls the API within the time that the caller gives it. An error of the API is
// printed.
func (c clientConfig) call(s *Session, do func(ctx context.Context, api *client.Client) error) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.Ctx, c.jobTimeout())
	defer cancel()
	return printError(s, do(ctx, api))
}

// request is a command that only a caller has.
type request struct {
	clientConfig
	console.Format
}

// run prints what the API answers.
func (c request) run(s *Session, ask func(context.Context, *client.Client) (printed, error)) error {
	return c.call(s, func(ctx context.Context, api *client.Client) error {
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
	s *Session, caller func(context.Context, *client.Client) (printed, error),
	operator func(context.Context, *operate.Operator) (printed, error),
) error {
	switch {
	case !c.Operator && c.Key != "":
		return c.request.run(s, caller)
	case !c.Operator && c.RedisURL == "":
		return errNoMode
	}
	return action{c.Redis, c.Format}.run(s, operator)
}

// printed prints what a command has got.
type printed func(console.Streams, console.Format) error

// as returns what prints a result, unless there is an error instead.
func as[T any](show func(T) printed) func(T, error) (printed, error) {
	return func(result T, err error) (printed, error) {
		if err != nil {
			return nil, err
		}
		return show(result), nil
	}
}

// after returns what an action prints unless it failed.
func after(success printed, err error) (printed, error) {
	if err != nil {
		return nil, err
	}
	return success, nil
}

// record prints one thing: as JSON a value, else pairs of a name and what it has.
func record(value any, pairs ...any) printed {
	fields := make([]console.Field, 0, len(pairs)/2) //nolint:mnd // of a pair
	for i := 0; i+1 < len(pairs); i += 2 {
		fields = append(fields, console.Field{Name: textOf(pairs[i]), Value: textOf(pairs[i+1])})
	}
	return func(out console.Streams, f console.Format) error { return console.Show(out, f, value, fields) }
}

// listed returns what prints things under a header.
func listed[T any](header string, cells func(T) []any) func([]T) printed {
	return func(all []T) printed {
		return func(out console.Streams, f console.Format) error {
			return console.List(out, f, all, header, func(one T) (texts []string) {
				for _, cell := range cells(one) {
					texts = append(texts, textOf(cell))
				}
				return texts
			})
		}
	}
}

// textOf returns a value as it is printed.
func textOf(value any) string {
	switch value := value.(type) {
	case time.Time:
		return console.Time(value)
	case *time.Time:
		if value == nil {
			return ""
		}
		return console.Time(*value)
	}
	return fmt.Sprint(value)
}

// said prints a sentence, or in another form the record that it says.
func said(record any, sentence string, values ...any) printed {
	return func(out console.Streams, f console.Format) error {
		return console.Say(out, f, record, sentence, values...)
	}
}

// printJSON prints an answer as the API wrote it.
func printJSON(s *Session, answer json.RawMessage) error { return console.WriteJSON(s.Out, answer) }
