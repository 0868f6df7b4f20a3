package webhook_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
)

// A receiver verifies the signature before it reads the event.
func Example() {
	secret := webhook.NewSecret() // as the API returned it when the webhook was created
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = webhooktest.CheckSignature(secret, r.Header.Get(webhook.HeaderID), r.Header.Get(webhook.HeaderTimestamp),
				r.Header.Get(webhook.HeaderSignature), body, time.Now())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}

	now, body := time.Now(), `{"type":"job.completed"}`
	signed, err := webhook.Sign([]string{secret}, "msg1", now, []byte(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, sent := range []string{body, `{"type":"forged"}`} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(sent))
		r.Header.Set(webhook.HeaderID, "msg1")
		r.Header.Set(webhook.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
		r.Header.Set(webhook.HeaderSignature, signed)
		w := httptest.NewRecorder()
		receive(w, r)
		fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
	}
	// Output:
	// 204
	// 400 webhooktest: invalid signature
}
