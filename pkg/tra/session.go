package tra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// errNotAllowed means that a session does not allow a call.
var errNotAllowed = errors.New("tra: the call is not allowed")

// session is the resolution of one vehicle, from its lists to its tax.
type session struct {
	SessionOptions

	writes sync.WaitGroup
	lists  []chan struct{} // those of writes that are of lists
	mu     sync.Mutex
	over   bool  // finish was called; later writes are made at once
	err    error // of the first write that failed
}

type sessionKey struct{}

// SessionOptions of Begin.
type SessionOptions struct {
	// Bulk calls are for a batch, and leave a part of the rate limit to those for people.
	Bulk bool
	// Allow is called before each call to the authority, which is not made when it
	// returns an error. It may be called often and at the same time. Nil allows all.
	Allow func() error
	// Announce is sent when the tax of the vehicle is stored; nil sends nothing.
	Announce *Announcement
}

// Announcement is a message that an answer is stored. It may be sent twice.
type Announcement struct {
	Channel, Message string

	received atomic.Int64
}

// Received returns how many processes got the message; 0 when it was not sent.
func (a *Announcement) Received() int64 { return a.received.Load() }

// Begin starts the resolution of one vehicle, for a worker far away from Redis:
// answers of calls with the context that it returns are stored while the next calls
// run. finish waits until they are stored and returns the first error of that.
func Begin(ctx context.Context, o SessionOptions) (_ context.Context, finish func() error) {
	s := &session{SessionOptions: o}
	return context.WithValue(ctx, sessionKey{}, s), func() error {
		s.mu.Lock()
		s.over = true
		s.mu.Unlock()
		s.writes.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.err
	}
}

// sessionOf returns the session of a context; nil without one.
func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// write runs a write: at once without a session, otherwise beside the next call.
func (s *session) write(write func() error) error {
	if s == nil {
		return write()
	}
	s.mu.Lock()
	over := s.over
	if !over {
		s.writes.Go(func() { s.setError(write()) })
	}
	s.mu.Unlock()
	if over { // no caller waits for this answer any longer
		return write()
	}
	return nil
}

// writeAnswer writes an answer to a call: a list beside the next call, the tax when the
// lists are written, because the worker that hears of it reads them too.
func (s *session) writeAnswer(call string, write func() error) error {
	switch {
	case s == nil:
		return write()
	case call == callDetails:
		return s.write(func() error {
			s.mu.Lock()
			lists := slices.Clone(s.lists)
			s.mu.Unlock()
			for _, written := range lists {
				<-written
			}
			return write()
		})
	}
	written := make(chan struct{})
	s.mu.Lock()
	s.lists = append(s.lists, written)
	s.mu.Unlock()
	return s.write(func() error {
		defer close(written)
		return write()
	})
}

// setError stores the first error of a write.
func (s *session) setError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// isBulk reports whether a session is for a batch.
func (s *session) isBulk() bool { return s != nil && s.Bulk }

// isFar reports whether a session is that of a worker far away from Redis.
func (s *session) isFar() bool { return s != nil && s.Announce != nil }

// allow returns nil when a call may be made.
func (s *session) allow() error {
	if s == nil || s.Allow == nil {
		return nil
	}
	if err := s.Allow(); err != nil {
		return fmt.Errorf("%w: %w", errNotAllowed, err)
	}
	return nil
}

// announcement returns what is sent when the answer to a call is stored; nil for
// nothing.
func (s *session) announcement(call string) *Announcement {
	if s == nil || call != callDetails {
		return nil
	}
	return s.Announce
}
