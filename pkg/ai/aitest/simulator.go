// Package aitest simulates a language model behind the OpenAI chat completions
// API, as net/http/httptest simulates a server. It is strict where the real
// one is strict: the key's header, the fields of a request, and the schema of
// the answer, of which it takes only what the strictest servers take. It is no
// language model: it chooses by the rule of choose.go, and reads pictures by
// the mark on the project's own SIMULATED sheets (see sheets.go).
//
// Everything from here says SIMULATED: a header, the model's name, the
// fingerprint, and every text of an answer.
package aitest

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"ushuru/pkg/faults"
)

// Path is where the API is.
const Path = "/v1"

// Header and HeaderValue mark every answer; Mark is in every text.
const (
	Header      = "X-Simulated"
	HeaderValue = "SIMULATED AI"
	Mark        = "SIMULATED"
)

// maxBody is the most that a request may have: pictures in base64.
const maxBody = 32 << 20

// Options of a Simulator. The zero value takes any key and any model.
type Options struct {
	Key     string   // the only key accepted; empty: any, but there must be one
	Models  []string // those that exist; empty: all
	Context int      // tokens of prompt and answer together; default 128,000
	Seed    uint64   // of random faults
	Faults  Faults
}

// Simulator is an http.Handler. It is safe for concurrent use.
type Simulator struct {
	options Options
	mux     *http.ServeMux

	mu     sync.Mutex
	faults Faults
	dice   *faults.Dice
	counts Counts
	last   []byte
}

// New makes a Simulator.
func New(o Options) *Simulator {
	if o.Context == 0 {
		o.Context = 128_000
	}
	s := &Simulator{options: o, mux: http.NewServeMux()}
	s.Reset()
	s.mux.HandleFunc("POST "+Path+"/chat/completions", s.complete)
	s.mux.HandleFunc("GET "+Path+"/models", s.models)
	faults.Control(s.mux, s.Counts, s.SetFaults, s.Reset)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.reject(w, &apiError{
			status: http.StatusNotFound, Type: invalidRequest,
			Message: fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path),
		})
	})
	return s
}

// ServeHTTP answers the API under Path and the controls under /_sim/.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(Header, HeaderValue)
	s.mux.ServeHTTP(w, r)
}

// complete is POST /v1/chat/completions.
func (s *Simulator) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		s.reject(w, badRequest("", "the body cannot be read"))
		return
	}
	fault := s.begin(body)
	if !fault.delay.Wait(r.Context()) || fault.replaces(w) {
		return
	}
	request, wrong := s.check(r, body)
	if wrong != nil {
		s.reject(w, wrong)
		return
	}
	answer := fault.spoil(answerer(request)(request, fault))
	s.count(answer)
	writeJSON(w, http.StatusOK, completion(request, answer, fault))
}

// begin counts the request and takes the fault that it shall suffer.
func (s *Simulator) begin(body []byte) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Requests++
	s.last = body
	fault := s.faults.take(s.dice)
	if fault.misbehaves() {
		s.counts.Faults++
	}
	return fault
}

func (s *Simulator) count(a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Answers++
	s.counts.PromptTokens += a.promptTokens
	s.counts.CompletionTokens += a.completionTokens()
	if a.candidates > 0 {
		s.counts.Choices[a.choice]++
	}
}

// models is GET /v1/models.
func (s *Simulator) models(w http.ResponseWriter, r *http.Request) {
	if wrong := s.checkKey(r); wrong != nil {
		s.reject(w, wrong)
		return
	}
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := []model{}
	for _, id := range s.options.Models {
		list = append(list, model{id, "model", time.Now().Unix(), Mark})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}
