// Package operator is the commands with which an operator acts on a running service, over
// Redis. Those that a caller has too, over the API, do one or the other: see asOperator.
package operator

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"strings"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/operate"
	"ushuru/pkg/redisx"
)

// Redis says where Redis is.
type Redis struct {
	RedisURL        console.Secret `env:"REDIS_URL" placeholder:"URL" help:"redis://, rediss://, redis-socket://, redis-sentinel:// or redis-cluster:// URL."`
	RedisPoolSize   int            `env:"REDIS_POOL_SIZE" default:"0" range:"0..10000" help:"Maximum connections per server; 0 means ten per CPU."`
	AllowPlainRedis bool           `env:"ALLOW_PLAIN_REDIS" help:"Allow a Redis on another host without password and without TLS in production."`
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

// asOperator are the flags of a command that both a caller and the operator have. It calls
// the API with an API key, and without one it acts over Redis on those of all keys.
type asOperator struct {
	Redis

	Operator bool `help:"Act as the operator, over REDIS_URL, on those of all API keys; without USHURU_KEY that is the default."`
}

var errNoMode = errors.New("set USHURU_KEY to an API key, or REDIS_URL to act as the operator")

// acts reports whether the command acts as the operator; key is the caller's API key.
func (a asOperator) acts(key console.Secret) (bool, error) {
	switch {
	case a.Operator:
		return true, nil
	case key != "":
		return false, nil
	case a.RedisURL != "":
		return true, nil
	}
	return false, errNoMode
}

// either runs a command as a caller or as the operator.
func (a asOperator) either(
	s *Session, key console.Secret, caller func(*console.Console) error, operator func(context.Context, *operate.Operator) error,
) error {
	acts, err := a.acts(key)
	if err != nil {
		return err
	}
	if !acts {
		return caller(s.Console)
	}
	return s.act(a.Redis, operator)
}

// act runs an action of the operator.
func (s *Session) act(config Redis, do func(context.Context, *operate.Operator) error) error {
	o, err := s.Operator(config)
	if err != nil {
		return err
	}
	err = do(s.Ctx, o)
	if errors.Is(err, operate.ErrNotFound) {
		return errors.New("there is none with that id")
	}
	return err
}

// oneWord joins words that are not empty.
func oneWord(words ...string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), ", ")
}
