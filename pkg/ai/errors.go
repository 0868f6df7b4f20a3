package ai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"ushuru/pkg/logs"
)

// Kind classifies the failures of calls.
type Kind string

// The kinds. Those of the first group are transient; those of the second need an
// operator; those of the third concern this question only.
const (
	RateLimited Kind = "rate_limited" // 429
	Unavailable Kind = "unavailable"  // 5xx, no connection
	Timeout     Kind = "timeout"      // no answer within Options.Timeout
	NotJSON     Kind = "not_json"     // a page of HTML or other text in place of an answer
	NoChoices   Kind = "no_choices"   // status 200 and nothing said

	Misconfigured Kind = "misconfigured" // 401, 403, 404, a redirect, no money left
	Rejected      Kind = "rejected"      // 400: the server does not take such a request

	TooLong   Kind = "too_long"   // more than the model's context
	Truncated Kind = "truncated"  // the answer was cut at MaxTokens
	Refused   Kind = "refused"    // the model would rather not
	Filtered  Kind = "filtered"   // the server's content filter
	BadAnswer Kind = "bad_answer" // not by the schema, or not valid to the caller
)

// Kinds are all the kinds.
var Kinds = []Kind{
	RateLimited, Unavailable, Timeout, NotJSON, NoChoices, Misconfigured, Rejected, TooLong, Truncated, Refused, Filtered,
	BadAnswer,
}

// Error means that no endpoint answered a question. It contains no keys and no
// text of the question or of an answer.
type Error struct {
	Kind       Kind
	Endpoint   string // host and model
	Status     int    // of HTTP; 0 without an answer
	RetryAfter time.Duration
	Message    string // ours, perhaps with what a server says of a rejected request

	Others []*Error // what the other endpoints said

	// excerpt returns the first bytes of the answer of a server that failed, for the log only; nil
	// without one. A function is not printed with the error.
	excerpt func() string
}

// answer returns the first bytes of the answer.
func (e *Error) answer() string {
	if e.excerpt == nil {
		return ""
	}
	return e.excerpt()
}

// Error returns the message, with the endpoint and the kind.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ai: %s: %s (%s)", e.Endpoint, e.Message, e.Kind)
	for _, other := range e.Others {
		fmt.Fprintf(&b, "; %s: %s (%s)", other.Endpoint, other.Message, other.Kind)
	}
	return b.String()
}

// Retryable reports whether a retry of the same question can succeed later.
func (e *Error) Retryable() bool { return e.Kind.isTransient() }

func (k Kind) isTransient() bool {
	return slices.Contains([]Kind{RateLimited, Unavailable, Timeout, NotJSON, NoChoices}, k)
}

// coolsDown reports whether the endpoint failed, rather than the question.
func (k Kind) coolsDown() bool { return k.isTransient() || k == Misconfigured }

// BudgetError means that the tokens of the day are used up. No call was made.
type BudgetError struct {
	Limit, Used int64
	Resets      time.Time // midnight in Dar es Salaam
	Key         string    // the API key whose tokens they are; "" for those of all
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("ai: %d of %d tokens of this day are used; there are more at %s",
		e.Used, e.Limit, e.Resets.Format(time.RFC3339))
}

// sum returns one error for those of all endpoints: the first transient one, with
// the shortest time to wait.
func sum(failures []*Error) *Error {
	first := max(slices.IndexFunc(failures, (*Error).Retryable), 0)
	e := *failures[first]
	for i, other := range failures {
		if i == first {
			continue
		}
		e.Others = append(e.Others, other)
		if other.Retryable() {
			e.RetryAfter = min(cmp.Or(e.RetryAfter, other.RetryAfter), cmp.Or(other.RetryAfter, e.RetryAfter))
		}
	}
	return &e
}

// fail returns an error of this endpoint.
func (e *endpoint) fail(kind Kind, message string) *Error {
	return &Error{Kind: kind, Endpoint: e.name, Message: message}
}

// failure translates what go-openai returns. The text of its errors holds the
// server's whole answer and is not passed on.
func (e *endpoint) failure(ctx context.Context, err error, header http.Header) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return e.fail(Timeout, "no answer in time")
	}
	var failure *Error
	status, code, message := 0, "", ""
	if request, ok := errors.AsType[*openai.RequestError](err); ok { // which may hold an empty APIError
		status, message = request.HTTPStatusCode, otherMessage(request.Body)
	} else if api, ok := errors.AsType[*openai.APIError](err); ok {
		status, message = api.HTTPStatusCode, api.Message
		code, _ = api.Code.(string)
	}
	switch {
	case status != 0:
		failure = e.statusFailure(status, code, message)
	case errors.Is(err, errRedirect):
		failure = e.fail(Misconfigured, "the server redirects; the base URL is not that of the API")
	case is[*http.MaxBytesError](err):
		failure = e.fail(NotJSON, "the server's answer is too large")
	case is[*url.Error](err): // there was no response
		failure = e.fail(Unavailable, "no connection, or it broke")
	case isEncoding(err) && strings.Contains(header.Get("Content-Type"), "html"):
		failure = e.fail(NotJSON, "a page of HTML in place of an answer")
	case isEncoding(err):
		failure = e.fail(NotJSON, "the server's answer is no JSON of the chat API")
	case errors.Is(err, openai.ErrChatCompletionInvalidModel), errors.Is(err, openai.ErrReasoningModelMaxTokensDeprecated):
		failure = e.fail(Misconfigured, "the model cannot be asked over the chat API")
	default:
		failure = e.fail(Unavailable, "no connection, or it broke")
	}
	failure.Status, failure.excerpt = status, e.excerpt(err, message)
	failure.RetryAfter = retryAfter(header, e.now())
	return failure
}

// excerpt returns the first bytes of what a server answered, without the key.
func (e *endpoint) excerpt(err error, message string) func() string {
	body := []byte(message)
	if request, ok := errors.AsType[*openai.RequestError](err); ok && len(request.Body) > 0 {
		body = request.Body
	}
	clean := logs.Excerpt([]byte(e.withoutSecrets(string(body))))
	return func() string { return clean }
}

// otherMessage reads the errors of servers that have not the shape of OpenAI's:
// {"error": "…"} of Ollama, {"message": "…"} of older vLLM. An HTML page gives none.
func otherMessage(body []byte) string {
	var said struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	return cmp.Or(said.Error, said.Message)
}

// statusFailure translates an HTTP status and what the server says to it.
func (e *endpoint) statusFailure(status int, code, message string) *Error {
	switch {
	case code == "insufficient_quota":
		return e.fail(Misconfigured, "the account has no money left")
	case code == "context_length_exceeded", strings.Contains(message, "maximum context length"),
		status == http.StatusRequestEntityTooLarge:
		return e.fail(TooLong, "the question is longer than the model's context")
	case code == "content_filter":
		return e.fail(Filtered, "the content filter rejects the question")
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return e.fail(Misconfigured, "the server does not accept the key") // its message may repeat the key
	case status == http.StatusNotFound:
		return e.fail(Misconfigured, "the server has no such model, or no chat API at this base URL")
	case status == http.StatusTooManyRequests:
		return e.fail(RateLimited, "too many requests")
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return e.fail(Unavailable, "the server fails")
	default:
		return e.fail(Rejected, "the server rejects the request: "+cmp.Or(e.quote(message), "it does not say why"))
	}
}

// quote returns a server's message without the key and similar texts.
func (e *endpoint) quote(message string) string { return Clean(e.withoutSecrets(message), 200) }

func (e *endpoint) withoutSecrets(text string) string {
	if e.Key != "" {
		text = strings.ReplaceAll(text, string(e.Key), redacted)
	}
	return secretPattern.ReplaceAllString(text, redacted)
}

// is reports whether an error is, or wraps, one of a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
