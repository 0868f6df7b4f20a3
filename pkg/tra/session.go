package tra

import (
	"context"
	"sync"
)

// session is the resolution of one vehicle, from its lists to its tax.
type session struct {
	bulk   bool
	writes sync.WaitGroup
	mu     sync.Mutex
	over   bool  // finish was called; later writes are made at once
	err    error // of the first write that failed
}

type sessionKey struct{}

// Begin starts the resolution of one vehicle, for a worker far away from Redis:
// answers of calls with the context that it returns are stored while the next calls
// run. finish waits until they are stored and returns the first error of that. Calls
// for a batch leave a part of the rate limit to those for people.
func Begin(ctx context.Context, bulk bool) (_ context.Context, finish func() error) {
	s := &session{bulk: bulk}
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

// setError stores the first error of a write.
func (s *session) setError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// isBulk reports whether a session is for a batch.
func (s *session) isBulk() bool { return s != nil && s.bulk }
