package webhook

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/pace"
)

// The headers of a delivery.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// schedule is how long to wait after each failed attempt, as the specification
// suggests: about three days in all.
var schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	attemptTimeout = 15 * time.Second // of one POST
	writeTimeout   = 15 * time.Second // for writing its outcome

	// maxRetryAfter bounds the delay that a receiver may ask for.
	maxRetryAfter = 24 * time.Hour

	// interruptedDelay precedes another attempt when the last one was
	// interrupted: Redis was away, or the worker stopped or died.
	interruptedDelay = 2 * time.Second

	// lockedDelay is how long a delivery waits when no key opens the secret of its
	// endpoint, which the operator can repair.
	lockedDelay = time.Minute
)

// Sender is the handler of the tasks of TypeDeliver. Any number of them may run.
// Its server needs RetryDelay and IsFailure in its configuration.
type Sender struct {
	Store *Store
	// Post sends one request to a URL that a caller gave, as fetch.Client does: it refuses
	// addresses that are not public, follows no redirects and limits what it reads of the
	// response, of which it returns the first bytes.
	Post func(ctx context.Context, url string, header http.Header, body []byte) (
		status int, response http.Header, answer []byte, err error)
	Log *slog.Logger
	// Schedule is how long to wait after each failed attempt; nil is that of the
	// specification.
	Schedule []time.Duration
	// SlowAfter is how long a receiver may take that then fails, before it is paused; 0
	// is 5 s.
	SlowAfter time.Duration
	// Turn takes a place for the delivery of an owner, for at most lease; false is none. The
	// places of the senders are shared between keys. Nil lets all send.
	Turn func(ctx context.Context, owner, id string, lease time.Duration) (end func(), ok bool, err error)
	// OnAttempt is called after every attempt with the id of the endpoint and the outcome:
	// delivered, retried, given_up or gone. Nil disables it.
	OnAttempt func(endpoint, outcome string, took time.Duration)
}

// retryError says why and after which delay a delivery is looked at again: after an attempt that
// has failed, or because it was not sent yet, which is no attempt.
type retryError struct {
	reason  string
	delay   time.Duration
	attempt bool
}

func (e *retryError) Error() string { return "webhook: " + e.reason }

// notYet returns the error of a delivery that was not sent yet.
func notYet(reason string, delay time.Duration) error {
	return &retryError{reason, pace.Jitter(max(delay, time.Second)), false}
}

// RetryDelay is the RetryDelayFunc of the server that runs a Sender.
func RetryDelay(_ int, err error, _ *asynq.Task) time.Duration {
	if retry, ok := errors.AsType[*retryError](err); ok {
		return retry.delay
	}
	return interruptedDelay
}

// IsFailure is the IsFailure of the server that runs a Sender: an interrupted
// attempt does not count as a retry.
func IsFailure(err error) bool {
	retry, ok := errors.AsType[*retryError](err)
	return ok && retry.attempt
}

// ProcessTask makes one attempt and records its outcome. It returns nil when the
// delivery has ended. After the last failed attempt asynq archives the task; an
// operator who runs it again makes one attempt more.
func (s *Sender) ProcessTask(ctx context.Context, task *asynq.Task) error {
	var payload taskPayload
	if err := json.Unmarshal(task.Payload(), &payload); err != nil {
		return fmt.Errorf("webhook: payload: %w: %w", err, asynq.SkipRetry)
	}
	d, record, err := s.Store.delivery(ctx, payload.Delivery)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && (d.State == Delivered || d.Run != payload.Run):
		return nil // it has expired, was delivered, or has a task of a later run
	case err != nil:
		return err
	}
	endpoint, err := s.Store.get(ctx, d.Owner, d.Endpoint)
	var why string
	switch {
	case errors.Is(err, ErrNotFound):
		why = "the endpoint was deleted"
	case err != nil:
		return err
	case endpoint.Disabled != "":
		why = "the endpoint is disabled"
	case endpoint.State == Unverified && d.Event != verificationEvent:
		if wait := held(d, time.Now()); wait > 0 {
			return notYet("the endpoint has not proved yet that it wants events", wait)
		}
		why = "the endpoint has not proved that it wants events"
	case endpoint.State == Verified && d.Event == verificationEvent:
		d.State = Delivered // it has been proved already
		return s.write(ctx, record, d)
	default:
		return s.deliver(ctx, record, d, endpoint)
	}
	return s.finish(ctx, record, d, Failed, Attempt{At: time.Now().UTC(), Error: why})
}

// deliver sends a delivery to an endpoint when it is the turn of its key and of the endpoint, signed
// with the secrets that are valid now.
func (s *Sender) deliver(ctx context.Context, record string, d Delivery, endpoint stored) error {
	secrets, err := s.Store.validSecrets(d.Owner, endpoint, time.Now())
	if err != nil {
		s.Log.ErrorContext(ctx, "webhook not delivered: its secret cannot be opened", "delivery", d.ID,
			"webhook", d.Endpoint, "error", err)
		return notYet("the secret cannot be opened", lockedDelay)
	}
	if id, named := asynq.GetTaskID(ctx); s.Turn != nil && named {
		end, ready, err := s.Turn(ctx, d.Owner, id, sendingLease)
		if err != nil {
			return err
		}
		if !ready {
			return notYet("other deliveries of the key have all the places that one key may have", interruptedDelay)
		}
		defer end()
	}
	wait, err := s.Store.begin(ctx, d)
	if err != nil {
		return err
	}
	if wait > 0 {
		return notYet("the endpoint is busy or paused", wait)
	}
	attempt, after, err := s.send(ctx, d, endpoint.URL, secrets)
	if err != nil {
		return err
	}
	return s.conclude(ctx, record, d, endpoint.URL, attempt, after)
}

// conclude records the outcome of an attempt to send to a URL and says what comes next.
// wait is the delay that the receiver asked for.
func (s *Sender) conclude(
	ctx context.Context, record string, d Delivery, url string, attempt Attempt, wait time.Duration,
) error {
	delays := s.Schedule
	if delays == nil {
		delays = schedule
	}
	if d.Event == verificationEvent {
		delays = delays[:min(len(delays), verificationAttempts-1)]
	}
	log := s.Log.With("delivery", d.ID, "webhook", d.Endpoint, "event", d.Event, "status", attempt.Status,
		"duration", time.Duration(attempt.Millis)*time.Millisecond)
	d.Tries++
	switch {
	case attempt.Error == "" && attempt.Status >= 200 && attempt.Status < 300:
		if d.Event == verificationEvent {
			if err := s.Store.markVerified(ctx, d.Owner, d.Endpoint, url); err != nil {
				return ignoreMissing(err)
			}
		}
		defer s.countAttempt(d, "delivered", attempt)
		log.InfoContext(ctx, "webhook delivered")
		return s.finish(ctx, record, d, Delivered, attempt)
	case attempt.Status == http.StatusGone:
		defer s.countAttempt(d, "gone", attempt)
		log.InfoContext(ctx, "webhook disabled: the receiver answered 410")
		disabled := s.Store.disable(ctx, d.Owner, d.Endpoint, "it answered 410 Gone")
		return errors.Join(ignoreMissing(disabled), s.finish(ctx, record, d, Failed, attempt))
	case d.Tries > len(delays):
		defer s.countAttempt(d, "given_up", attempt)
		log.WarnContext(ctx, "webhook delivery failed permanently", "error", attempt.Error)
		if err := s.finish(ctx, record, d, Failed, attempt); err != nil {
			return err
		}
		return fmt.Errorf("webhook: %s: %w", attempt.Error, asynq.SkipRetry)
	}
	defer s.countAttempt(d, "retried", attempt)
	delay := max(pace.Jitter(delays[d.Tries-1]), min(wait, maxRetryAfter))
	log.InfoContext(ctx, "webhook delivery will be retried", "error", attempt.Error, "delay", delay)
	d.Next = attempt.At.Add(delay)
	d.addAttempt(attempt)
	if err := s.write(ctx, record, d); err != nil {
		return err
	}
	return &retryError{attempt.Error, delay, true}
}

func (s *Sender) countAttempt(d Delivery, outcome string, attempt Attempt) {
	if s.OnAttempt != nil {
		s.OnAttempt(d.Endpoint, outcome, time.Duration(attempt.Millis)*time.Millisecond)
	}
}

// finish records the end of a delivery.
func (s *Sender) finish(ctx context.Context, record string, d Delivery, state State, attempt Attempt) error {
	d.State, d.Next = state, time.Time{}
	d.addAttempt(attempt)
	return s.write(ctx, record, d)
}

// write replaces the record of a delivery. An attempt whose outcome cannot be
// recorded is made again, so a short outage of Redis is waited for.
func (s *Sender) write(ctx context.Context, record string, d Delivery) error {
	return pace.Retry(ctx, pace.Backoff{
		InitialDelay: 100 * time.Millisecond, MaxDelay: time.Second, Timeout: writeTimeout,
		IsPermanent: func(err error) bool { return errors.Is(err, errChanged) },
	}, func() error { return s.Store.replace(ctx, record, d) })
}

func (d *Delivery) addAttempt(attempt Attempt) {
	d.Attempts = append(d.Attempts, attempt)
	d.Attempts = d.Attempts[max(0, len(d.Attempts)-maxAttempts):]
}

// send makes one POST. An error means that it was interrupted, which is not the
// receiver's failure.
func (s *Sender) send(ctx context.Context, d Delivery, url string, secrets []string) (Attempt, time.Duration, error) {
	now := time.Now()
	signed, err := Sign(secrets, d.ID, now, d.Payload)
	if err != nil {
		return Attempt{}, 0, err
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Ushuru-Webhooks/1.0"},
		HeaderID: {d.ID}, HeaderTimestamp: {strconv.FormatInt(now.Unix(), 10)},
		HeaderSignature: {signed},
	}
	bounded, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	status, response, answer, err := s.Post(bounded, url, header, d.Payload)
	attempt := Attempt{At: now.UTC(), Status: status, Millis: time.Since(now).Milliseconds()}
	defer func() { s.Store.end(ctx, d, attempt, cmp.Or(s.SlowAfter, defaultSlowAfter)) }()
	if ctx.Err() != nil {
		return Attempt{}, 0, ctx.Err()
	}
	switch {
	case err != nil:
		attempt.Error = err.Error() // the public half
	case status >= 300 && status < 400:
		attempt.Error = "redirects are not followed; give the final URL"
	case status < 200 || status >= 400:
		attempt.Error = "the receiver answered " + http.StatusText(status)
	case d.Event == verificationEvent && !proves(d.Payload, answer):
		attempt.Error = "the receiver did not return the challenge"
	}
	return attempt, pace.RetryAfter(response, time.Now(), maxRetryAfter), nil
}

const (
	secretPrefix     = "whsec_"
	secretBytes      = 32 // the specification allows 24 to 64
	signatureVersion = "v1"
)

// NewSecret returns a random secret: whsec_ and base64.
func NewSecret() string {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never returns an error
	return secretPrefix + base64.StdEncoding.EncodeToString(random)
}

// Sign returns the header of signatures, one for each secret, so that a receiver can
// replace the old secret by the new one at any time.
func Sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	signatures := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return "", fmt.Errorf("webhook: secret: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures = append(signatures, signatureVersion+","+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(signatures, " "), nil
}
