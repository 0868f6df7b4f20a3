package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/client"
	"ushuru/pkg/webhook/signature"
)

// signed returns a request to a webhook as the API sends it.
func signed(secret, body string) *http.Request {
	now := time.Now()
	signatures, err := signature.Sign([]string{secret}, "msg1", now, []byte(body))
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/ushuru", strings.NewReader(body))
	r.Header.Set(signature.HeaderID, "msg1")
	r.Header.Set(signature.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(signature.HeaderSignature, signatures)
	return r
}

func TestReceiver(t *testing.T) {
	secret, old, other := signature.NewSecret(), signature.NewSecret(), signature.NewSecret()
	var events []string
	handler := client.Receiver{Secrets: []string{old, secret}, On: func(e *client.Event) error {
		events = append(events, e.ID+" "+e.Type)
		if e.Type == client.EventTest {
			return errors.New("full")
		}
		_, err := e.Job()
		return err
	}}
	for _, c := range []struct {
		name, secret, body string
		status             int
		answer             string
	}{
		{"an event", secret, `{"type":"job.completed","data":{"id":"7"}}`, 204, ""},
		{"with the old secret", old, `{"type":"job.completed","data":{"id":"7"}}`, 204, ""},
		{"a challenge", secret, `{"type":"webhook.verification","data":{"challenge":"abc"}}`, 200, "abc"},
		{"one that cannot be taken", secret, `{"type":"webhook.test","data":{}}`, 503, ""},
		{"a forged one", other, `{"type":"job.completed","data":{}}`, 401, ""},
		{"no JSON", secret, `{`, 401, ""},
		{"too large", secret, strings.Repeat(" ", 2<<20), 400, ""},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, signed(c.secret, c.body))
		if w.Code != c.status || c.answer != "" && w.Body.String() != c.answer {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
	if got := strings.Join(events, ", "); got != "msg1 job.completed, msg1 job.completed, msg1 webhook.test" {
		t.Errorf("events %s", got)
	}
}

// A Receiver is the handler of a webhook. What is not signed with its secret does not
// reach On.
func ExampleReceiver() {
	secret := signature.NewSecret() // as CreateWebhook returned it
	handler := client.Receiver{Secrets: []string{secret}, On: func(e *client.Event) error {
		job, err := e.Job()
		if err == nil {
			fmt.Println(e.Type, job.ID, job.State)
		}
		return err
	}}
	handler.ServeHTTP(httptest.NewRecorder(), signed(secret, `{"type":"job.completed","data":{"id":"01J","state":"succeeded"}}`))
	// Output: job.completed 01J succeeded
}
