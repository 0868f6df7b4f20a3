package keys

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"ushuru/pkg/redisx"
)

const (
	// maxAge bounds how long a record is remembered, from before it was read: a
	// key that is revoked is refused after that time even if every message about
	// it is lost.
	maxAge = time.Second
	// sweepAt is the number of remembered records at which expired ones are
	// removed.
	sweepAt = 1024
	// ChannelChanged is where an update of any key is published.
	ChannelChanged = "keys:changed"
)

// Memory verifies keys like a Store, and remembers the records of valid ones for
// at most a second, so that a busy key costs one read a second instead of one a
// request. While Run runs, a change of a key is known at once. Keys that are not
// valid are not remembered: a new key works at once.
type Memory struct {
	// Refused, if not nil, is called with each message that could not be taken. It is set
	// before Run.
	Refused func(channel string, cause error)

	store *Store
	now   func() time.Time

	mu      sync.RWMutex
	changes int // changes that were published, so that an older read is not remembered
	known   map[[sha256.Size]byte]remembered
}

// remembered is the record of a valid key.
type remembered struct {
	key   Key
	until time.Time
}

// NewMemory returns an empty Memory of a Store.
func NewMemory(store *Store) *Memory {
	return &Memory{store: store, now: time.Now, known: map[[sha256.Size]byte]remembered{}}
}

// Verify returns the record of a valid key, or ErrInvalid. The record was read at
// most a second ago.
func (m *Memory) Verify(ctx context.Context, plain string) (Key, error) {
	if !wellFormed(plain) {
		return Key{}, ErrInvalid
	}
	sum := sha256.Sum256([]byte(plain))
	start := m.now()
	m.mu.RLock()
	entry, changes := m.known[sum], m.changes
	m.mu.RUnlock()
	if start.Before(entry.until) {
		return entry.key, nil
	}
	key, err := m.store.Verify(ctx, plain)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err != nil:
		delete(m.known, sum)
	case m.changes == changes:
		m.sweep(start)
		m.known[sum] = remembered{key, start.Add(maxAge)}
	}
	return key, err
}

// sweep removes the expired records when there are many.
func (m *Memory) sweep(now time.Time) {
	if len(m.known) < sweepAt {
		return
	}
	for sum, entry := range m.known {
		if !now.Before(entry.until) {
			delete(m.known, sum)
		}
	}
}

// forget forgets every record.
func (m *Memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	clear(m.known)
}

// Run forgets the records whenever a key is changed, until ctx ends. The age of the
// records bounds what a lost message can do.
func (m *Memory) Run(ctx context.Context) {
	redisx.Listener{
		Client: m.store.redis, Channel: ChannelChanged, Refused: m.Refused,
		Heard: func(string) error {
			m.forget()
			return nil
		},
	}.Run(ctx)
}
