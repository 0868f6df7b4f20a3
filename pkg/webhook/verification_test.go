package webhook_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
)

// asked is a receiver that answers a challenge as answer says, and the endpoint that
// was registered for it. It returns the types of the events that came.
func asked(t *testing.T, answer func(w http.ResponseWriter, body []byte, challenge string)) (stage, func() []string) {
	t.Helper()
	var came []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var message struct {
			Type string `json:"type"`
			Data struct {
				Challenge string `json:"challenge"`
			} `json:"data"`
		}
		if err != nil || json.Unmarshal(body, &message) != nil {
			t.Errorf("%v: %s", err, body)
		}
		came = append(came, message.Type)
		if message.Type == "webhook.verification" {
			answer(w, body, message.Data.Challenge)
		}
	}))
	t.Cleanup(server.Close)
	fetcher, err := fetch.New(fetch.Options{AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fetcher.Close)
	client := embedded(t)
	store := webhook.NewStore(client, nil)
	endpoint, secret, err := store.Add(t.Context(), owner, webhook.NewID(), server.URL, []string{webhook.BatchCompleted})
	if err != nil || endpoint.State != webhook.Unverified {
		t.Fatalf("%+v, %v", endpoint, err)
	}
	s := stage{client, store, &webhook.Sender{
		Store: store, Post: fetcher.Post, Log: slog.New(slog.DiscardHandler),
		Schedule: []time.Duration{time.Nanosecond, time.Nanosecond},
	}, endpoint, secret}
	return s, func() []string { return came }
}

func (s stage) state(t *testing.T) webhook.EndpointState {
	t.Helper()
	e, err := s.store.Get(t.Context(), owner, s.endpoint.ID)
	if err != nil {
		t.Fatal(err)
	}
	return e.State
}

func TestEndpointProvesThatItWantsEvents(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, challenge string){
		"text": func(w http.ResponseWriter, challenge string) { _, _ = io.WriteString(w, challenge+"\n") },
		"JSON": func(w http.ResponseWriter, challenge string) {
			_ = json.NewEncoder(w).Encode(map[string]string{"challenge": challenge})
		},
	} {
		s, came := asked(t, func(w http.ResponseWriter, _ []byte, challenge string) { answer(w, challenge) })
		s.emit(t, webhook.BatchCompleted, "batch1")
		s.send(t)
		if s.state(t) != webhook.Verified {
			t.Errorf("%s: %s", name, s.state(t))
		}
		if got := strings.Join(came(), " "); got != "webhook.verification batch.completed" {
			t.Errorf("%s: it got %s", name, got)
		}
	}
}

// A server that knows nothing of webhooks gets no event, whatever it answers.
func TestEndpointWithoutProofGetsNoEvent(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, body []byte, challenge string){
		"nothing": func(http.ResponseWriter, []byte, string) {},
		"an echo": func(w http.ResponseWriter, body []byte, _ string) { _, _ = w.Write(body) },
		"a page":  func(w http.ResponseWriter, _ []byte, challenge string) { _, _ = io.WriteString(w, "<p>"+challenge) },
		"an error": func(w http.ResponseWriter, _ []byte, challenge string) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, challenge)
		},
	} {
		s, came := asked(t, answer)
		s.emit(t, webhook.BatchCompleted, "batch1")
		if _, err := s.store.Test(t.Context(), owner, s.endpoint.ID, "t1", time.Now()); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			webhooktest.Once(t, s.client, s.sender)
		}
		if s.state(t) != webhook.Unverified {
			t.Errorf("%s proves that it wants events", name)
		}
		for _, event := range came() {
			if event != "webhook.verification" {
				t.Errorf("%s: it got %s", name, event)
			}
		}
		if n := len(came()); n == 0 || n > 5 {
			t.Errorf("%s: it was asked %d times", name, n)
		}
	}
}

// What failed once can be asked again.
func TestEndpointIsAskedAgain(t *testing.T) {
	t.Parallel()
	ready := false
	s, came := asked(t, func(w http.ResponseWriter, _ []byte, challenge string) {
		if ready {
			_, _ = io.WriteString(w, challenge)
		}
	})
	s.send(t)
	if s.state(t) != webhook.Unverified || len(came()) != 3 {
		t.Fatalf("%s after %v", s.state(t), came())
	}
	ready = true
	if _, err := s.store.Verify(t.Context(), "another key", s.endpoint.ID, "again", time.Now()); err == nil {
		t.Error("another key may have it asked")
	}
	d, err := s.store.Verify(t.Context(), owner, s.endpoint.ID, "again", time.Now())
	if err != nil || d.Event != "webhook.verification" {
		t.Fatalf("%+v, %v", d, err)
	}
	s.send(t)
	if s.state(t) != webhook.Verified {
		t.Error(s.state(t))
	}
}

// TestAnotherURLMustProveAgain that it wants events; the answer of the URL before is no
// proof for it.
func TestAnotherURLMustProveAgain(t *testing.T) {
	t.Parallel()
	var s stage
	moving := false
	s, came := asked(t, func(w http.ResponseWriter, _ []byte, challenge string) {
		if moving { // while the first URL answers
			if _, err := s.store.Change(t.Context(), owner, s.endpoint.ID, "https://other.example/", nil); err != nil {
				t.Error(err)
			}
		}
		_, _ = io.WriteString(w, challenge)
	})
	moving = true
	s.send(t)
	if s.state(t) != webhook.Unverified {
		t.Error("the answer of one URL is the proof of another")
	}
	moving = false
	changed, err := s.store.Change(t.Context(), owner, s.endpoint.ID, s.endpoint.URL, []string{webhook.JobCompleted})
	if err != nil || changed.URL != s.endpoint.URL || changed.Events[0] != webhook.JobCompleted || changed.State != webhook.Unverified {
		t.Fatalf("%+v, %v", changed, err)
	}
	s.send(t)
	if s.state(t) != webhook.Verified {
		t.Errorf("after another question: %s; it got %v", s.state(t), came())
	}
	if same, err := s.store.Change(t.Context(), owner, s.endpoint.ID, s.endpoint.URL, nil); err != nil || same.State != webhook.Verified {
		t.Errorf("the same URL: %+v, %v", same, err)
	}
}
