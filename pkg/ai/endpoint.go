package ai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"ushuru/pkg/pace"
	"ushuru/pkg/trace"
)

// endpoint is one model on one server, with its cooldown.
type endpoint struct {
	Endpoint
	name    string // host and model
	host    string
	client  *openai.Client
	http    *http.Client
	timeout time.Duration
	now     func() time.Time

	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // not to be asked before
	last     *Error    // why

	plainJSON  bool // the server refuses a JSON schema
	noSampling bool // the server refuses temperature and seed
}

const (
	// MinCooldown is for how long an endpoint is left alone that has failed once. It doubles with
	// each failure in a row.
	MinCooldown = time.Second
	maxCooldown = time.Minute // the longest without a Retry-After, and that of a misconfiguration
)

func newEndpoint(e Endpoint, host string, timeout time.Duration, now func() time.Time) *endpoint {
	transport := newTransport()
	config := openai.DefaultConfig(string(e.Key))
	config.BaseURL = e.BaseURL
	config.HTTPClient = transport
	return &endpoint{
		Endpoint: e, name: host + " " + e.Model, host: host,
		client: openai.NewClientWithConfig(config), http: transport, timeout: timeout, now: now,
	}
}

// request is a question in the form for the endpoints.
type request struct {
	name, system, user string
	pictures           []Picture
	schema             Schema
	maxTokens          int
	timeout            time.Duration
	seed               int  // of a repetition
	failover           bool // as in Call
}

// totalTokens returns the approximate maximum cost of a call. A token is three bytes or
// more of English, and about one character, three bytes, of Japanese.
func (r *request) totalTokens() int {
	const roles = 100
	schema, _ := r.schema.MarshalJSON() // which the hash has had already
	return r.promptTokens() + len(schema)/3 + roles + r.maxTokens
}

// promptTokens returns the approximate cost of the messages of a question.
func (r *request) promptTokens() int {
	return (len(r.system)+len(r.user))/3 + pictureTokens(r.pictures)
}

// reply is the response of a server.
type reply struct {
	content, model     string
	prompt, completion int // tokens
}

// call makes one call.
func (e *endpoint) call(ctx context.Context, r *request) (_ reply, failed *Error) {
	ctx, span := trace.Start(ctx, trace.Client, "AI "+r.name, "server.address", e.host, "gen_ai.request.model", e.Model)
	defer func() {
		if failed == nil {
			span.End(nil)
			return
		}
		span.End(failed)
	}()
	ctx, cancel := context.WithTimeout(ctx, max(e.timeout, r.timeout))
	defer cancel()
	response, err := e.client.CreateChatCompletion(ctx, e.chat(r))
	for err != nil { // at most once for each thing that a server can do without
		failure := e.failure(ctx, err, response.Header())
		if !e.yield(failure) {
			return reply{}, failure
		}
		response, err = e.client.CreateChatCompletion(ctx, e.chat(r))
	}
	answer := reply{
		model: Clean(response.Model, 100), prompt: tokens(response.Usage.PromptTokens),
		completion: tokens(response.Usage.CompletionTokens),
	}
	if len(response.Choices) == 0 {
		return answer, e.fail(NoChoices, "an answer without choices")
	}
	choice := response.Choices[0]
	if answer.prompt == 0 { // some servers do not count
		answer.prompt, answer.completion = r.promptTokens(), len(choice.Message.Content)/3
	}
	answer.content = choice.Message.Content
	switch {
	case choice.FinishReason == openai.FinishReasonContentFilter:
		return answer, e.fail(Filtered, "the content filter cut the answer")
	case choice.Message.Refusal != "":
		return answer, e.fail(Refused, "the model refuses to answer")
	case choice.FinishReason == openai.FinishReasonLength:
		return answer, e.fail(Truncated, fmt.Sprintf("the answer was cut at %d tokens", r.maxTokens))
	case answer.content == "":
		return answer, e.fail(NoChoices, "an empty answer")
	}
	return answer, nil
}

// yield gives up what the server refuses, and reports whether it can be asked again: a
// JSON schema, or temperature and seed. The endpoint remembers it.
func (e *endpoint) yield(failure *Error) bool {
	if failure.Kind != Rejected {
		return false
	}
	message := strings.ToLower(failure.Message)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !e.plainJSON && (strings.Contains(message, "response_format") || strings.Contains(message, "schema")):
		e.plainJSON = true
	case !e.noSampling && (strings.Contains(message, "temperature") || strings.Contains(message, "seed")):
		e.noSampling = true
	default:
		return false
	}
	return true
}

// fixed are the models that accept no temperature but their own.
var fixed = regexp.MustCompile(`^(o[1-9]|gpt-5)`)

// capped are the models whose API wants max_completion_tokens. All others take
// max_tokens; Ollama takes nothing else.
var capped = regexp.MustCompile(`^(o[1-9]|gpt-[4-9]|chatgpt-)`)

func (e *endpoint) chat(r *request) openai.ChatCompletionRequest {
	chat := openai.ChatCompletionRequest{
		Model: e.Model,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: r.system},
			userMessage(r),
		},
		ResponseFormat: &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: r.name, Schema: r.schema, Strict: true},
		},
	}
	e.mu.Lock()
	plainJSON, noSampling := e.plainJSON, e.noSampling
	e.mu.Unlock()
	if plainJSON {
		schema, _ := r.schema.MarshalJSON()
		chat.Messages[0].Content += "\n\nThe JSON schema of the answer:\n" + string(schema)
		chat.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	if !noSampling && !fixed.MatchString(e.Model) {
		seed := 1 + r.seed
		chat.Temperature, chat.Seed = math.SmallestNonzeroFloat32, &seed // 0 would be left out
	}
	if e.host == "api.openai.com" || capped.MatchString(e.Model) {
		chat.MaxCompletionTokens = r.maxTokens
	} else {
		chat.MaxTokens = r.maxTokens //nolint:staticcheck // deprecated by OpenAI alone
	}
	return chat
}

// tokens limits a server's count to a plausible range.
func tokens(n int) int { return min(max(n, 0), 10_000_000) }

// inCooldown returns why the endpoint is skipped, nil when it is not.
func (e *endpoint) inCooldown() *Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	left := e.until.Sub(e.now())
	if left <= 0 {
		return nil
	}
	failure := *e.last
	failure.RetryAfter = left
	failure.Message += "; it is left alone for a while"
	return &failure
}

// recordResult updates the cooldown after a call. Of several calls that fail at
// the same time only the first extends it.
func (e *endpoint) recordResult(failure *Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if failure == nil || !failure.Kind.coolsDown() {
		e.failures = 0
		return
	}
	now := e.now()
	rest := maxCooldown
	if failure.Kind.isTransient() {
		rest = min(MinCooldown<<min(e.failures, 10), maxCooldown)
	}
	if !now.Before(e.until) {
		e.failures++
	}
	failure.RetryAfter = max(failure.RetryAfter, rest)
	if until := now.Add(failure.RetryAfter); until.After(e.until) {
		e.until, e.last = until, failure
	}
}

const (
	maxBody       = 1 << 20
	maxRetryAfter = time.Hour
	idleTimeout   = 90 * time.Second
	maxIdle       = 16
	connectionCap = 64
)

var errRedirect = errors.New("ai: redirect")

// newTransport returns the HTTP client of one endpoint. go-openai takes 3xx for
// success and reads a body to its end, whatever its length.
func newTransport() *http.Client {
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, // the operator names the endpoint and the proxy
		MaxIdleConnsPerHost: maxIdle, MaxConnsPerHost: connectionCap, IdleConnTimeout: idleTimeout,
	}
	return &http.Client{Transport: guard{base}}
}

// guard turns redirects into errors and bounds bodies.
type guard struct{ base *http.Transport }

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := g.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		_ = response.Body.Close()
		return nil, errRedirect
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxBody)
	return response, nil
}

// CloseIdleConnections is called by http.Client.
func (g guard) CloseIdleConnections() { g.base.CloseIdleConnections() }

// isEncoding reports whether an error is of JSON that could not be read.
func isEncoding(err error) bool {
	return is[*json.SyntaxError](err) || is[*json.UnmarshalTypeError](err) || errors.Is(err, io.EOF) // EOF: an empty body
}

// secretPattern is what keys look like in servers' messages: long runs of
// letters and digits, perhaps masked.
var secretPattern = regexp.MustCompile(`[A-Za-z0-9_*-]*(?:[0-9*][A-Za-z0-9_*-]*){4,}`)

// retryAfter parses the delay that a server asks for, at most an hour: OpenAI's
// milliseconds, seconds or a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 { // NaN is not
		return time.Duration(min(ms/1000, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	return pace.RetryAfter(header, now, maxRetryAfter)
}
