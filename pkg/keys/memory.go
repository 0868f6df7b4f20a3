package keys

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"ushuru/pkg/redisx"
)

const (
	// maxAge bounds how long a record is remembered, from before it was read: a
	// key that is revoked is refused after that time even if every message about
	// it is lost.
	maxAge = time.Second
	// maxRemembered bounds the records in memory.
	maxRemembered = 8192
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

	mu      sync.Mutex
	changes int // changes that were published, so that an older read is not remembered
	known   *lru.Cache[[sha256.Size]byte, remembered]
}

// remembered is the record of a valid key.
type remembered struct {
	key   Key
	until time.Time
}

// NewMemory returns an empty Memory of a Store.
func NewMemory(store *Store) *Memory {
	known, _ := lru.New[[sha256.Size]byte, remembered](maxRemembered) // the only error is a size below one
	return &Memory{store: store, now: time.Now, known: known}
}

// Verify returns the record of a valid key, or ErrInvalid. The record was read at
// most a second ago.
func (m *Memory) Verify(ctx context.Context, plain string) (Key, error) {
	if !wellFormed(plain) {
		return Key{}, ErrInvalid
	}
	sum := sha256.Sum256([]byte(plain))
	start := m.now()
	if entry, _ := m.known.Get(sum); start.Before(entry.until) {
		return entry.key, nil
	}
	m.mu.Lock()
	changes := m.changes
	m.mu.Unlock()
	key, err := m.store.Verify(ctx, plain)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err != nil:
		m.known.Remove(sum)
	case m.changes == changes:
		m.known.Add(sum, remembered{key, start.Add(maxAge)})
	}
	return key, err
}

// forget forgets every record.
func (m *Memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	m.known.Purge()
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
