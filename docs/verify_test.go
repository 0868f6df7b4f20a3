package docs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/testenv"
)

func verify(secret string, header http.Header, body []byte) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	sent, err := strconv.ParseInt(header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return errors.New("the event is too old")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), body)
	for signature := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err == nil && hmac.Equal(got, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("the signature is not valid")
}

// The function above is that of api.md, and accepts what the service signs.
func TestDocumentedVerificationWorks(t *testing.T) {
	t.Parallel()
	if !strings.Contains(read(t, "verify_test.go"), blockOf(t, "api.md", "go")) {
		t.Error("the function in api.md is not the one in verify_test.go")
	}
	const secret, body = "whsec_c2VjcmV0", `{"type": "webhook.test"}`
	header := http.Header{}
	header.Set("Webhook-Id", "msg1")
	header.Set("Webhook-Timestamp", strconv.FormatInt(time.Now().Unix(), 10))
	mac := hmac.New(sha256.New, []byte("secret"))
	_, _ = fmt.Fprintf(mac, "msg1.%s.%s", header.Get("Webhook-Timestamp"), body)
	header.Set("Webhook-Signature", "v1,AAAA v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	if err := verify(secret, header, []byte(body)); err != nil {
		t.Error(err)
	}
	if verify(secret, header, []byte(body+" ")) == nil {
		t.Error("a changed body is accepted")
	}
	header.Set("Webhook-Timestamp", "1000")
	if verify(secret, header, []byte(body)) == nil {
		t.Error("an old event is accepted")
	}
}

// blockOf returns the only block of a language in a document.
func blockOf(t *testing.T, name, language string) string {
	t.Helper()
	for _, b := range testenv.Blocks(read(t, name)) {
		if b.Language == language {
			return b.Text
		}
	}
	t.Fatalf("%s has no block of %s", name, language)
	return ""
}
