package redistest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// shared is a set of servers that the tests of a process use one after the other,
// because starting one takes seconds. The reaper ends it.
type shared struct {
	launch func(binary, dir string) ([]*daemon, error)
	url    func([]*daemon) string

	turn    sync.Mutex // held by the test that uses it
	once    sync.Once
	daemons []*daemon
	err     error
}

var (
	sharedCluster  = &shared{launch: launchCluster, url: clusterURL}
	sharedSentinel = &shared{
		launch: func(binary, dir string) ([]*daemon, error) { return launchSentinel(binary, dir, neverFailOver) },
		url:    sentinelURL,
	}
)

// take deletes the data of the set and returns its URL. It reserves the set until
// the end of the test.
func (s *shared) take(t testing.TB, name string) string {
	t.Helper()
	binary := needRedis(t)
	s.turn.Lock()
	t.Cleanup(func() {
		for _, d := range s.daemons {
			d.reportRefused(t)
		}
		s.turn.Unlock()
	})
	s.once.Do(func() { s.err = s.start(binary, name) })
	if s.err != nil {
		t.Fatalf("redistest: shared %s: %v", name, s.err)
	}
	flush(t, s.url(s.daemons))
	return s.url(s.daemons)
}

func (s *shared) start(binary, name string) error {
	reaper, err := startReaper()
	if err != nil {
		return err
	}
	dir := filepath.Join(reaper.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if s.daemons, err = s.launch(binary, dir); err != nil {
		return err
	}
	return reaper.adopt(s.daemons...)
}
