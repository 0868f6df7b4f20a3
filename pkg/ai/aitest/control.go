package aitest

import (
	"maps"
	"net/http/httptest"
	"testing"

	"ushuru/pkg/faults"
)

// Counts says what was asked since the start or the last reset.
type Counts struct {
	Requests         int            `json:"requests"`
	Rejected         int            `json:"rejected"` // by the checks of request, key and schema
	Faults           int            `json:"faults"`   // that suffered one
	Answers          int            `json:"answers"`
	PromptTokens     int            `json:"promptTokens"`
	CompletionTokens int            `json:"completionTokens"`
	Choices          map[string]int `json:"choices"` // by id of the candidate, or NONE
}

// Counts returns what was asked since the start or the last reset.
func (s *Simulator) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.counts
	counts.Choices = maps.Clone(counts.Choices)
	return counts
}

// Last returns the body of the last request.
func (s *Simulator) Last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.last)
}

// SetFaults replaces the faults from the next request on.
func (s *Simulator) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.dice = f, faults.NewDice(f.Next, s.options.Seed)
}

// Reset forgets the counts and returns to the faults of the options.
func (s *Simulator) Reset() {
	s.SetFaults(s.options.Faults)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts, s.last = Counts{Choices: map[string]int{}}, nil
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
	simulator := New(o)
	server := httptest.NewServer(simulator)
	t.Cleanup(server.Close)
	return &Server{Simulator: simulator, URL: server.URL + Path, Root: server.URL}
}
