package ai

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind says what went wrong with a call.
type Kind string

// The kinds. Those of the first group pass; those of the second need an
// operator; those of the third are about this one question.
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

// Error is a question that no endpoint answered. It repeats neither keys nor
// what was asked or answered.
type Error struct {
	Kind       Kind
	Endpoint   string // host and model
	Status     int    // of HTTP; 0 without an answer
	RetryAfter time.Duration
	Message    string // ours, perhaps with what a server says of a rejected request

	Others []*Error // what the other endpoints said
}

// Error names the endpoint and what it did.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ai: %s: %s (%s)", e.Endpoint, e.Message, e.Kind)
	for _, other := range e.Others {
		fmt.Fprintf(&b, "; %s: %s (%s)", other.Endpoint, other.Message, other.Kind)
	}
	return b.String()
}

// Retryable reports whether the same question can get an answer later.
func (e *Error) Retryable() bool { return e.Kind.isTransient() }

func (k Kind) isTransient() bool {
	return slices.Contains([]Kind{RateLimited, Unavailable, Timeout, NotJSON, NoChoices}, k)
}

// coolsDown reports whether the endpoint itself is at fault, not the question.
func (k Kind) coolsDown() bool { return k.isTransient() || k == Misconfigured }

// BudgetError says that the tokens of the day are used up. The question was
// not asked.
type BudgetError struct {
	Limit, Used int64
	Resets      time.Time // midnight in Dar es Salaam
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("ai: %d of %d tokens of this day are used; there are more at %s",
		e.Used, e.Limit, e.Resets.Format(time.RFC3339))
}

// sum makes one error of what all endpoints said: the first that can pass
// stands for all, with the shortest time to wait.
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
