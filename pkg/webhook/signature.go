package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers of a delivery.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

const (
	secretPrefix     = "whsec_"
	secretBytes      = 32 // the specification allows 24 to 64
	signatureVersion = "v1"
)

// NewSecret returns a random secret: whsec_ and base64.
func NewSecret() string {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never returns an error
	return secretPrefix + base64.StdEncoding.EncodeToString(random)
}

// Sign returns the header of signatures, one for each secret, so that a receiver can
// replace the old secret by the new one at any time.
func Sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	signatures := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return "", fmt.Errorf("webhook: secret: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures = append(signatures, signatureVersion+","+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(signatures, " "), nil
}
