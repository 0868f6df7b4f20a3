package webhook_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"ushuru/pkg/webhook"
)

const secret = "whsec_c2VjcmV0"

// keyOf returns the setting of a key of equal bytes.
func keyOf(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }

func ring(t *testing.T, keys ...string) *webhook.Ring {
	t.Helper()
	r, err := webhook.ParseRing(strings.Join(keys, ", "))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSealedSecretOpensOnlyWhereItBelongs(t *testing.T) {
	r := ring(t, keyOf(1))
	sealed := r.Seal(secret, "a")
	if strings.Contains(sealed, "whsec_") || strings.Contains(sealed, "c2VjcmV0") || sealed == r.Seal(secret, "a") {
		t.Errorf("sealed as %s", sealed)
	}
	if got, err := r.Open(sealed, "a"); err != nil || got != secret {
		t.Errorf("%q, %v", got, err)
	}
	for name, test := range map[string]struct {
		sealed, belongs string
		ring            *webhook.Ring
		want            error
	}{
		"elsewhere":   {sealed, "b", r, webhook.ErrDamaged},
		"another key": {sealed, "a", ring(t, keyOf(2)), webhook.ErrNoKey},
		"no key":      {sealed, "a", nil, webhook.ErrNoKey},
		"changed":     {sealed[:len(sealed)-8] + "AAAAAAA=", "a", r, webhook.ErrDamaged},
		"cut":         {sealed[:20], "a", r, webhook.ErrDamaged},
		"no base64":   {sealed[:16] + ":*", "a", r, webhook.ErrDamaged},
	} {
		if got, err := test.ring.Open(test.sealed, test.belongs); !errors.Is(err, test.want) || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A key is replaced in three steps, and no secret is unreadable in between.
func TestKeysAreReplaced(t *testing.T) {
	older := ring(t, keyOf(1)).Seal(secret, "a")
	both := ring(t, keyOf(2), keyOf(1))
	if got, err := both.Open(older, "a"); err != nil || got != secret {
		t.Fatal(got, err)
	}
	sealed, changed, err := both.Reseal(older, "a")
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	if got, err := ring(t, keyOf(2)).Open(sealed, "a"); err != nil || got != secret {
		t.Error(got, err)
	}
	if again, changed, err := both.Reseal(sealed, "a"); changed || err != nil || again != sealed {
		t.Error("sealed twice", err)
	}
	if kept, changed, err := ring(t, keyOf(3)).Reseal(sealed, "a"); changed || !errors.Is(err, webhook.ErrNoKey) || kept != sealed {
		t.Error("changed what it cannot open", err)
	}
}

func TestSecretsInTheClearAreReadAndSealed(t *testing.T) {
	for _, r := range []*webhook.Ring{nil, ring(t)} {
		if got, err := r.Open(r.Seal(secret, "a"), "a"); err != nil || got != secret || r.Seal(secret, "a") != secret || r.Seals() {
			t.Error(got, err)
		}
	}
	sealed, changed, err := ring(t, keyOf(1)).Reseal(secret, "a")
	if err != nil || !changed || !strings.HasPrefix(sealed, "sealed:") {
		t.Error(sealed, err)
	}
}

func TestKeysAreChecked(t *testing.T) {
	for _, setting := range []string{
		"short", "c2hvcnQ=", keyOf(1) + ",", keyOf(1) + "," + keyOf(1), strings.Repeat("s3cret", 8),
	} {
		if _, err := webhook.ParseRing(setting); err == nil || strings.Contains(err.Error(), setting) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
