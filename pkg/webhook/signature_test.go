package webhook_test

import (
	"testing"
	"time"

	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
)

// The published vector of the specification's reference libraries.
const (
	vectorSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	vectorID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorBody      = `{"test": 2432232314}`
	vectorSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

var vectorTime = time.Unix(1614265330, 0)

func TestSignaturesAreThoseOfTheSpecification(t *testing.T) {
	got, err := webhook.Sign([]string{vectorSecret}, vectorID, vectorTime, []byte(vectorBody))
	if err != nil || got != vectorSignature {
		t.Errorf("%s, %v; want %s", got, err, vectorSignature)
	}
}

func TestVerifyRefusesWhatWasChanged(t *testing.T) {
	const other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	for name, c := range map[string]struct {
		secret, id, at, signature, body string
		now                             time.Time
		good                            bool
	}{
		"as it was sent":        {vectorSecret, vectorID, "1614265330", vectorSignature, vectorBody, vectorTime, true},
		"one of two signatures": {vectorSecret, vectorID, "1614265330", "v1,AAAA v2,x " + vectorSignature, vectorBody, vectorTime, true},
		"another secret":        {other, vectorID, "1614265330", vectorSignature, vectorBody, vectorTime, false},
		"another id":            {vectorSecret, "msg_x", "1614265330", vectorSignature, vectorBody, vectorTime, false},
		"another body":          {vectorSecret, vectorID, "1614265330", vectorSignature, vectorBody + " ", vectorTime, false},
		"another time":          {vectorSecret, vectorID, "1614265331", vectorSignature, vectorBody, vectorTime, false},
		"long ago":              {vectorSecret, vectorID, "1614265330", vectorSignature, vectorBody, vectorTime.Add(6 * time.Minute), false},
		"from the future":       {vectorSecret, vectorID, "1614265330", vectorSignature, vectorBody, vectorTime.Add(-6 * time.Minute), false},
		"no signature":          {vectorSecret, vectorID, "1614265330", "", vectorBody, vectorTime, false},
		"no time":               {vectorSecret, vectorID, "", vectorSignature, vectorBody, vectorTime, false},
		"another version":       {vectorSecret, vectorID, "1614265330", "v2" + vectorSignature[2:], vectorBody, vectorTime, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := webhooktest.CheckSignature(c.secret, c.id, c.at, c.signature, []byte(c.body), c.now)
			if (err == nil) != c.good {
				t.Errorf("%v, want accepted %t", err, c.good)
			}
		})
	}
}
