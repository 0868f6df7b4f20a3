// Package ai sends closed questions to language models: over the chat completions API of
// OpenAI, which Ollama, vLLM and others implement too.
//
// A question is our instruction, untrusted data and images, and a schema. The data
// is sent as named fields between random delimiters, truncated and cleaned; the
// answer follows a strict JSON schema and is validated again here, because a
// server may ignore the schema. An answer is data: the caller decides which
// values it may set.
//
// Several endpoints are called in order of preference, each once; one that fails
// is skipped during a cooldown. The package does not wait or retry, because
// callers with a queue retry better (see Error.RetryAfter). Tokens count against
// a daily budget, and valid answers are cached by the hash of the whole question.
package ai

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/metrics"
)

// Usage is what an answer cost.
type Usage struct {
	Endpoint         string `json:"endpoint"` // host and model that were asked
	Model            string `json:"model"`    // as the server names it
	PromptTokens     int    `json:"promptTokens"`
	CompletionTokens int    `json:"completionTokens"`
	Cached           bool   `json:"-"` // given before; the tokens are of that time and cost nothing now
}

// Ask sends a question and returns its answer as a T, whose JSON names are the
// properties of the schema. valid, if not nil, checks the answer further; an
// answer that fails it is a BadAnswer and is not cached.
//
// Ask calls the endpoints in their order until one gives a valid answer. The
// error is an *Error, a *BudgetError, that of ctx or Redis, or that of an invalid
// question.
func Ask[T any](ctx context.Context, c *Client, q Question, valid func(*T) error) (T, Usage, error) {
	var zero T
	if err := checkPictures(q.Pictures); err != nil {
		return zero, Usage{}, err
	}
	hash, err := q.hash(c.models)
	if err != nil {
		return zero, Usage{}, err
	}
	read := func(content string) (answer T, clean json.RawMessage, err error) {
		answer, clean, err = decode[T](q.Schema, content)
		if err == nil && valid != nil {
			err = valid(&answer)
		}
		return answer, clean, err
	}
	if kept, ok := c.answers.get(ctx, hash); ok {
		if answer, _, err := read(string(kept.Answer)); err == nil {
			c.metrics.Count("ai_questions_total", q.Name, "yes")
			kept.Usage.Cached = true
			return answer, kept.Usage, nil
		}
	}
	c.metrics.Count("ai_questions_total", q.Name, "no")

	var answer T
	var clean json.RawMessage
	usage, err := c.askAll(ctx, &q, func(content string) (err error) {
		answer, clean, err = read(content)
		return err
	})
	if err != nil {
		return zero, usage, err
	}
	if err := c.answers.put(ctx, hash, cachedAnswer{clean, usage}); err != nil {
		c.log.WarnContext(ctx, "an answer of the AI is not kept", "error", err)
	}
	return answer, usage, nil
}

// Forget removes the kept answer to a question, so that who asks it again gets another.
func (c *Client) Forget(ctx context.Context, q Question) error {
	hash, err := q.hash(c.models)
	if err != nil || c.answers.disabled() {
		return err
	}
	return c.answers.redis.Del(ctx, keyAnswer+hash).Err()
}

// askAll calls the endpoints until read accepts an answer. The usage is the sum of
// all calls and names the last endpoint.
func (c *Client) askAll(ctx context.Context, q *Question, read func(string) error) (total Usage, err error) {
	system, user, err := q.prompt()
	if err != nil {
		return Usage{}, err
	}
	r := request{
		name: q.Name, system: system, user: user, pictures: q.Pictures, schema: q.Schema, maxTokens: q.MaxTokens,
		timeout: q.Timeout, seed: q.Attempt,
	}
	var failures []*Error
	for _, e := range c.endpoints {
		if failure := e.inCooldown(); failure != nil {
			failures = append(failures, failure)
			continue
		}
		r.failover = len(failures) > 0
		usage, failure, err := c.askOne(ctx, e, &r, read)
		total.Endpoint, total.Model = usage.Endpoint, usage.Model
		total.PromptTokens += usage.PromptTokens
		total.CompletionTokens += usage.CompletionTokens
		if err != nil {
			return total, err
		}
		if failure == nil {
			return total, nil
		}
		c.log.WarnContext(ctx, "an AI endpoint gave no good answer", "call", q.Name, "endpoint", e.name,
			"error_kind", string(failure.Kind), "status", failure.Status,
			"cause", failure.Message, "answer", failure.answer())
		failures = append(failures, failure)
	}
	return total, sum(failures)
}

// called counts a call.
func (c *Client) called(r *request, e *endpoint, usage Usage, failure *Error, took time.Duration) {
	kind := Kind("")
	if failure != nil {
		kind = failure.Kind
	}
	c.metrics.Call(metrics.Call{
		To: metrics.AI, Question: r.name, Endpoint: e.host, Name: e.Model, Kind: string(kind), Took: took,
		Prompt: usage.PromptTokens, Completion: usage.CompletionTokens, Failover: r.failover,
	})
}

// askOne calls one endpoint, within the budget. After a failure the next endpoint
// is called; after an error none is.
func (c *Client) askOne(ctx context.Context, e *endpoint, r *request, read func(string) error) (Usage, *Error, error) {
	reserved, err := c.budget.reserve(ctx, r.totalTokens(), max(e.timeout, r.timeout))
	if err != nil {
		c.skipped(ctx, r, e, err)
		return Usage{}, nil, err
	}
	began := time.Now()
	reply, failure := e.call(ctx, r)
	if failure == nil {
		if err := read(reply.content); err != nil {
			failure = e.fail(BadAnswer, err.Error())
		}
	}
	usage := Usage{Endpoint: e.name, Model: reply.model, PromptTokens: reply.prompt, CompletionTokens: reply.completion}
	used := usage.PromptTokens + usage.CompletionTokens
	switch { // not known: the server may continue and charge for it
	case errors.Is(ctx.Err(), context.Canceled):
		used = r.totalTokens()
	case ctx.Err() != nil, failure != nil && failure.Kind == Timeout:
		// One that hangs must not use up the day with answers that it does not give.
		used = r.promptTokens()
	}
	settleErr := c.budget.settle(ctx, reserved, used)
	if err := ctx.Err(); err != nil { // the caller went away, and the endpoint is not to blame
		return usage, nil, err
	}
	e.recordResult(failure)
	c.called(r, e, usage, failure, time.Since(began))
	if settleErr != nil {
		c.log.WarnContext(ctx, "the budget of the AI counts too much", "error", settleErr)
	}
	return usage, failure, nil
}

// skipped counts a question that the budget refuses, and logs it once a day and key.
func (c *Client) skipped(ctx context.Context, r *request, e *endpoint, err error) {
	spent, ok := errors.AsType[*BudgetError](err)
	if !ok {
		return
	}
	c.metrics.Count("ai_calls_total", r.name, e.host, e.Model, outOfBudget)
	if day, _ := dayOf(c.now()); c.budget.warned.raise(day, spent.Key, 100) {
		c.log.WarnContext(ctx, "the AI's tokens of this day are used up", "limit", spent.Limit, "resets", spent.Resets,
			"key", spent.Key)
	}
}

const keyAnswer = "ai:answer:" // and the hash of the question

// answers caches valid answers in Redis.
type answers struct {
	redis redis.UniversalClient
	ttl   time.Duration
}

// cachedAnswer is an answer in Redis. It is validated again when it is read,
// because another version of the program may have written it.
type cachedAnswer struct {
	Answer json.RawMessage `json:"answer"`
	Usage  Usage           `json:"usage"`
}

func (a *answers) disabled() bool { return a.redis == nil || a.ttl == 0 }

// get returns a cached answer. It treats an error of Redis as a miss.
func (a *answers) get(ctx context.Context, hash string) (cachedAnswer, bool) {
	var k cachedAnswer
	if a.disabled() {
		return k, false
	}
	value, err := a.redis.Get(ctx, keyAnswer+hash).Bytes()
	return k, err == nil && json.Unmarshal(value, &k) == nil
}

func (a *answers) put(ctx context.Context, hash string, k cachedAnswer) error {
	if a.disabled() {
		return nil
	}
	value, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return a.redis.Set(ctx, keyAnswer+hash, value, a.ttl).Err()
}
