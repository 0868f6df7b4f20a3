package signature_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/webhook/signature"
)

// A receiver verifies the signature before it reads the event.
func ExampleVerify() {
	secret := signature.NewSecret() // as the API returned it when the webhook was created
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = signature.Verify(secret, r.Header.Get(signature.HeaderID), r.Header.Get(signature.HeaderTimestamp),
				r.Header.Get(signature.HeaderSignature), body, time.Now())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}

	now, body := time.Now(), `{"type":"job.completed"}`
	signed, err := signature.Sign([]string{secret}, "msg1", now, []byte(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, sent := range []string{body, `{"type":"forged"}`} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(sent))
		r.Header.Set(signature.HeaderID, "msg1")
		r.Header.Set(signature.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
		r.Header.Set(signature.HeaderSignature, signed)
		w := httptest.NewRecorder()
		receive(w, r)
		fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
	}
	// Output:
	// 204
	// 400 webhook: invalid signature
}
