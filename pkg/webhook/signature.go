package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
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

	// tolerance is how far the time of a delivery may be from the receiver's clock.
	tolerance = 5 * time.Minute
)

// ErrSignature means that a delivery was not signed with the secret, or longer than
// tolerance ago.
var ErrSignature = errors.New("webhook: invalid signature")

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
		mac, err := macOf(secret, id, strconv.FormatInt(at.Unix(), 10), body)
		if err != nil {
			return "", err
		}
		signatures = append(signatures, signatureVersion+","+base64.StdEncoding.EncodeToString(mac))
	}
	return strings.Join(signatures, " "), nil
}

// Verify verifies a delivery as a receiver must. It returns nil or ErrSignature.
func Verify(secret, id, timestamp, signatures string, body []byte, now time.Time) error {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(sent, 0)).Abs() > tolerance {
		return ErrSignature
	}
	mac, err := macOf(secret, id, timestamp, body)
	if err != nil {
		return ErrSignature
	}
	for signature := range strings.FieldsSeq(signatures) {
		text, ok := strings.CutPrefix(signature, signatureVersion+",")
		signed, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil && hmac.Equal(signed, mac) {
			return nil
		}
	}
	return ErrSignature
}

func macOf(secret, id, timestamp string, body []byte) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		return nil, fmt.Errorf("webhook: secret: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return mac.Sum(nil), nil
}
