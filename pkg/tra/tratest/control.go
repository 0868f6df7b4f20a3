package tratest

import (
	"maps"
	"net/http/httptest"
	"slices"
	"testing"
)

// Counts returns what was asked since the start or the last reset.
func (s *Simulator) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Counts{Calls: maps.Clone(s.counts.Calls), Tuples: maps.Clone(s.counts.Tuples)}
}

// Server is a Simulator on a port of this machine, for tests.
type Server struct {
	*Simulator
	URL  string // the base URL for a client, with Path
	Root string // the address alone, before /_sim/
}

// Start serves a Simulator until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	simulator, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(simulator)
	t.Cleanup(server.Close)
	return &Server{Simulator: simulator, URL: server.URL + Path, Root: server.URL}
}

// Listed is one label of the catalogue with the values that it has.
type Listed struct {
	Make, Label string
	Years       []int
	Fuels       []string
	Bands       []string
}

// Listed returns the labels of a make, in the order of the catalogue.
func (s *Simulator) Listed(mk string) []Listed {
	entries := s.index.labels[s.index.ids[mk]]
	listed := make([]Listed, len(entries))
	for i, e := range entries {
		listed[i] = Listed{mk, e.label, slices.Clone(e.years), slices.Clone(e.fuels), slices.Clone(e.bands)}
	}
	return listed
}
