package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/pace"
)

const (
	// reconnectDelay precedes a new connection unless the stream has named another.
	reconnectDelay = 2 * time.Second
	// streamSilence is how long a stream may say nothing: the API writes a comment every
	// 15 seconds, so the connection is dead.
	streamSilence = time.Minute
	maxEvent      = 16 << 20 // bytes
)

// events returns the bodies of a stream of server-sent events until its last one. A
// connection that ends earlier is replaced; what came already is not repeated.
func events[T any](ctx context.Context, c *Client, path string) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		s := eventStream{client: c, path: path, delay: reconnectDelay}
		failures := 0
		for {
			before := s.lastID
			ended, err := s.read(ctx, func(data []byte) (bool, error) {
				body, err := decode[T](data)
				if err != nil {
					return false, err
				}
				return yield(body, nil), nil
			})
			if ended {
				return
			}
			if failures++; s.lastID != before {
				failures = 0
			}
			permanent := err != nil && !errors.Is(err, errStreamBroken)
			if permanent || failures > c.options.Retries {
				yield(nil, err)
				return
			}
			if err := pace.Sleep(ctx, pace.Jitter(s.delay)); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// errStreamBroken means that a stream ended before its last event.
var errStreamBroken = errors.New("client: the stream of events broke off")

// eventStream is a stream of server-sent events over one or more connections.
type eventStream struct {
	client *Client
	path   string
	lastID string        // of the last event that came whole
	delay  time.Duration // before a new connection
}

// read reads the events of one connection. It is true when no other will come, or on
// returned false.
func (s *eventStream) read(ctx context.Context, on func(data []byte) (bool, error)) (ended bool, err error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	if s.lastID != "" {
		header.Set("Last-Event-ID", s.lastID)
	}
	response, err := s.client.Open(ctx, Request{Path: s.path, Header: header})
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusNoContent {
		return true, nil // the last event came before
	}
	silence := time.AfterFunc(streamSilence, func() { _ = response.Body.Close() })
	defer silence.Stop()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxEvent)
	var ev serverSentEvent
	for lines.Scan() {
		silence.Reset(streamSilence)
		if lines.Text() != "" {
			ev.add(lines.Text())
			continue
		}
		if ev.retry > 0 {
			s.delay = ev.retry
		}
		if ev.data.Len() > 0 {
			if goOn, err := on([]byte(ev.data.String())); err != nil || !goOn {
				return err == nil, err
			}
			s.lastID = ev.id
			if ev.name == "end" {
				return true, nil
			}
		}
		ev = serverSentEvent{id: s.lastID}
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return false, fmt.Errorf("client: %s: %w", s.path, err)
	}
	return false, fmt.Errorf("%w: %w", errStreamBroken, errOr(lines.Err(), io.ErrUnexpectedEOF))
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// serverSentEvent is an event as far as its lines came (HTML Living Standard, section
// 9.2.6).
type serverSentEvent struct {
	id, name string
	data     strings.Builder
	retry    time.Duration
}

// add adds a line. A comment begins with a colon, so its field has no name.
func (e *serverSentEvent) add(line string) {
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "id":
		e.id = value
	case "event":
		e.name = value
	case "data":
		if e.data.Len() > 0 {
			e.data.WriteByte('\n')
		}
		e.data.WriteString(value)
	case "retry":
		if millis, err := strconv.Atoi(value); err == nil && millis >= 0 {
			e.retry = min(time.Duration(millis)*time.Millisecond, maxBackoff)
		}
	}
}
