package ai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/metrics"
)

// Key is the secret of an endpoint. It shows as [redacted] wherever it is
// printed, logged or encoded.
type Key string

const redacted = "[redacted]"

// String hides the key.
func (k Key) String() string {
	if k == "" {
		return ""
	}
	return redacted
}

// GoString hides the key from %#v.
func (k Key) GoString() string { return `"` + k.String() + `"` }

// LogValue hides the key from the log.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText hides the key from encoders.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Endpoint is one model on one server.
type Endpoint struct {
	BaseURL string `json:"baseURL"` // up to and without /chat/completions: https://api.openai.com/v1
	Model   string `json:"model"`
	Key     Key    `json:"key"` // empty for servers that want none
}

// Options of a Client. Only Endpoints is required.
type Options struct {
	Endpoints []Endpoint    // in order of preference
	Timeout   time.Duration // of one call; default 20 s

	// Redis holds the budget and the answers. Without it no answer is kept,
	// and a budget is an error.
	Redis       redis.UniversalClient
	DailyTokens int64 // of all processes together, per day of Dar es Salaam; 0 is no limit
	// KeyTokens returns the tokens a day of an API key, that of the context (package
	// fair); 0 is no limit. Nil limits no key.
	KeyTokens func(ctx context.Context, owner string) (int64, error)
	AnswerTTL time.Duration // how long answers are kept; 0 keeps none

	Metrics *metrics.Metrics // nil counts nothing
	// Questions are the names of those that will be asked: their series exist from the start.
	Questions []string
	Log       *slog.Logger     // default discards
	Now       func() time.Time // default time.Now
}

// outOfBudget is the outcome of a question for which there are no tokens.
const outOfBudget = "budget"

// Outcomes returns how calls can end besides ok: the kinds of failures, and budget.
func Outcomes() []string {
	outcomes := make([]string, len(Kinds)+1)
	outcomes[0] = outOfBudget
	for i, kind := range Kinds {
		outcomes[i+1] = string(kind)
	}
	return outcomes
}

// Client sends questions to models. It is safe for concurrent use.
type Client struct {
	endpoints []*endpoint
	budget    *budget
	answers   *answers
	metrics   *metrics.Metrics
	log       *slog.Logger
	now       func() time.Time
	models    []string // in order of preference, part of the hash of a question
}

// New checks the options. It makes no call.
func New(o Options) (*Client, error) {
	switch {
	case len(o.Endpoints) == 0:
		return nil, errors.New("ai: no endpoint")
	case (o.DailyTokens > 0 || o.KeyTokens != nil) && o.Redis == nil:
		return nil, errors.New("ai: a budget of tokens needs Redis")
	case o.DailyTokens < 0 || o.Timeout < 0 || o.AnswerTTL < 0:
		return nil, errors.New("ai: a negative limit")
	}
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{
		budget:  &budget{redis: o.Redis, limit: o.DailyTokens, ofKey: o.KeyTokens, now: o.Now, log: o.Log},
		answers: &answers{o.Redis, o.AnswerTTL}, metrics: o.Metrics, log: o.Log, now: o.Now,
	}
	for i, e := range o.Endpoints {
		host, err := checkEndpoint(e)
		if err != nil {
			return nil, fmt.Errorf("ai: endpoint %d: %w", i+1, err)
		}
		c.endpoints = append(c.endpoints, newEndpoint(e, host, o.Timeout, o.Now))
		c.models = append(c.models, e.Model)
		o.Metrics.BeginAI(o.Questions, host, e.Model)
	}
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() {
	for _, e := range c.endpoints {
		e.http.CloseIdleConnections()
	}
}

// checkEndpoint returns the host. A URL can hold no secret, so that it can be
// shown in errors.
func checkEndpoint(e Endpoint) (host string, err error) {
	base, err := url.Parse(e.BaseURL)
	switch {
	case err != nil: // the error of url.Parse repeats the URL, which may hold a secret
		return "", errors.New("the base URL cannot be read")
	case base.Scheme != "http" && base.Scheme != "https", base.Host == "":
		return "", errors.New("the base URL must be of the form https://host/v1")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return "", errors.New("the base URL must have no user, password, query or fragment; a key has its own field")
	case e.Model == "":
		return "", errors.New("no model")
	}
	return base.Host, nil
}

// Models returns the names of the models, in order of preference.
func (c *Client) Models() []string {
	return slices.Clone(c.models)
}

// DailyTokens returns the tokens a day of all processes together; 0 is no limit.
func (c *Client) DailyTokens() int64 { return c.budget.limit }
