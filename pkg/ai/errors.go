package ai

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
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
