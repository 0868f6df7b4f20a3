package tra

import (
	"context"
	"sync"
)

// session is the resolution of one vehicle, from its lists to its tax.
type session struct {
	bulk    bool
	writes  sync.WaitGroup
	mu      sync.Mutex
	fetched map[string]bool // keys of the lists that this session had the authority give
	err     error           // of the first write that failed
}

type sessionKey struct{}

// Begin starts the resolution of one vehicle, for a worker far away from Redis:
// answers of calls with the context that it returns are stored while the next calls
// run. finish waits until they are stored and returns the first error of that. Calls
// for a batch leave a part of the rate limit to those for people.
func Begin(ctx context.Context, bulk bool) (_ context.Context, finish func() error) {
	s := &session{bulk: bulk, fetched: map[string]bool{}}
	return context.WithValue(ctx, sessionKey{}, s), func() error {
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
	s.writes.Go(func() {
		if err := write(); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.err == nil {
				s.err = err
			}
		}
	})
	return nil
}

// noteFetched records that the authority gave a list.
func (s *session) noteFetched(key string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched[key] = true
}

// hasFetched reports whether the authority gave the list of a request in this
// session: then it was not cached, and neither is what depends on it.
func (s *session) hasFetched(q listRequest) bool {
	key, err := q.key()
	if s == nil || err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetched[key]
}

// isBulk reports whether a session is for a batch.
func (s *session) isBulk() bool { return s != nil && s.bulk }
