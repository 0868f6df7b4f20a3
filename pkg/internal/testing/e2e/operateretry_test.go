package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// An endpoint that answers 410 is disabled. When it is back, its owner's event is sent
// again by command, as it was; while it is disabled the command says what comes first.
func TestOperatorsRetryAWebhookThatWasDead(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := newStack(t, redistest.Open(t, server.URL))
	s.work(tasks.Roles...)
	run := operates(t, server.URL)
	url, got := receiver(t, http.StatusGone)
	var hook struct{ ID string }
	s.postInto("/v1/webhooks", `{"url":"`+url+`","events":["job.completed"]}`, &hook)
	s.submit(s.car(0))
	first := arrives(t, got)
	testenv.AwaitTrue(t, "the webhook is disabled", func() bool {
		return strings.Contains(run(console.ExitOK, "webhooks", "list"), "disabled: it answered 410 Gone")
	})
	testenv.AwaitTrue(t, "the delivery has failed", func() bool {
		return strings.Contains(run(console.ExitOK, "webhooks", "show", hook.ID), "job.completed failed")
	})
	if said := run(console.ExitFailure, "webhooks", "retry", hook.ID); !strings.Contains(said, "ushuru webhooks enable --operator "+hook.ID) {
		t.Error(said)
	}
	run(console.ExitOK, "webhooks", "enable", hook.ID)
	if said := run(console.ExitOK, "webhooks", "retry", hook.ID, "--json"); !strings.Contains(said, `"retried": 1`) {
		t.Error(said)
	}
	sameEvent(t, first, arrives(t, got))
	testenv.AwaitTrue(t, "it is delivered", func() bool {
		return strings.Contains(run(console.ExitOK, "webhooks", "show", hook.ID), "job.completed delivered")
	})
	if said := run(console.ExitOK, "webhooks", "retry", hook.ID); !strings.Contains(said, "Retried  0") {
		t.Error(said)
	}
	run(console.ExitOK, "webhooks", "retry", hook.ID, first.header.Get(webhook.HeaderID)) // though it was delivered
	sameEvent(t, first, arrives(t, got))
	for _, unknown := range [][]string{{"NONE"}, {hook.ID, "NONE"}} {
		if said := run(console.ExitFailure, append([]string{"webhooks", "retry"}, unknown...)...); !strings.Contains(said, "there is none with that id") {
			t.Error(said)
		}
	}
}

func sameEvent(t *testing.T, first, again received) {
	t.Helper()
	if first.header.Get(webhook.HeaderID) != again.header.Get(webhook.HeaderID) || !bytes.Equal(first.body, again.body) {
		t.Errorf("%v %s\n%v %s", first.header, first.body, again.header, again.body)
	}
}

// The rows of a batch that failed while their site was down succeed after the command; its
// end is announced once more.
func TestOperatorsRetryABatchWhoseSiteWasDown(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	server := redistest.Start(t)
	s := newStack(t, redistest.Open(t, server.URL))
	s.work(tasks.Roles...)
	run := operates(t, server.URL)
	hookURL, got := receiver(t)
	var hook struct{ ID string }
	s.postInto("/v1/webhooks", `{"url":"`+hookURL+`","events":["batch.completed"]}`, &hook)
	cars := listingtest.Cars()[:2]
	var up atomic.Bool
	pages := listingtest.Of(cars)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() && r.URL.Path != "/robots.txt" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	body, err := json.Marshal(map[string][]string{"urls": {site.URL + cars[0].Path(), site.URL + cars[1].Path()}})
	must(t, err)
	var batch client.Batch
	s.postInto("/v1/batches", string(body), &batch)
	ends := func(rows string) {
		t.Helper()
		testenv.AwaitTrue(t, rows, func() bool {
			s.runDelayed() // without the time between attempts
			shown := run(console.ExitOK, "batches", "show", batch.ID)
			return strings.Contains(shown, rows) && strings.Contains(shown, "Ended")
		})
	}
	ends("2: 2 failed")
	arrives(t, got)
	up.Store(true)
	var view struct {
		ID     string         `json:"id"`
		Counts map[string]int `json:"counts"`
	}
	must(t, json.NewDecoder(strings.NewReader(run(console.ExitOK, "batches", "retry", batch.ID, "--json"))).Decode(&view))
	if view.ID != batch.ID || view.Counts["failed"] != 0 {
		t.Errorf("%+v", view)
	}
	ends("2: 2 succeeded")
	if event := arrives(t, got); !strings.Contains(string(event.body), `"succeeded":2`) {
		t.Errorf("%s", event.body)
	}
	if said := run(console.ExitFailure, "batches", "retry", batch.ID); !strings.Contains(said, "no row of the batch has failed") {
		t.Error(said)
	}
	if said := run(console.ExitFailure, "batches", "retry", "NONE"); !strings.Contains(said, "there is none with that id") {
		t.Error(said)
	}
}
