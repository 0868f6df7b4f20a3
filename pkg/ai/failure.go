package ai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"ushuru/pkg/logs"
)

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
