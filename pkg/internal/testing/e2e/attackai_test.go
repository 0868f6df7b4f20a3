package e2e

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/testenv"
)

// withAI are the settings of a service with a SIMULATED model.
func withAI(t *testing.T, latency time.Duration, env ...string) settings {
	t.Helper()
	model := aitest.Start(t, aitest.Options{Faults: aitest.Faults{Latency: aitest.Duration(latency)}})
	return settings{env: append([]string{"AI_MODEL=m", "AI_API_KEY=k", "AI_BASE_URL=" + model.URL}, env...)}
}

// sheets returns a sheet of the demo whose picture differs in each call.
func sheets(t *testing.T) func() []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "listing", "listingtest", "sheets", "sm100002.jpg"))
	must(t, err)
	picture, err := jpeg.Decode(bytes.NewReader(data))
	must(t, err)
	var drawn atomic.Int64
	return func() []byte {
		i := int(drawn.Add(1))
		other := image.NewRGBA(picture.Bounds())
		draw.Draw(other, other.Bounds(), picture, image.Point{}, draw.Src)
		for bit := range 16 { // its number, in a corner
			if i>>bit&1 > 0 {
				draw.Draw(other, image.Rect(8*bit, 0, 8*bit+8, 8), image.NewUniform(color.Black), image.Point{}, draw.Src)
			}
		}
		var out bytes.Buffer
		_ = jpeg.Encode(&out, other, &jpeg.Options{Quality: 90})
		return out.Bytes()
	}
}

// sendSheet asks for the report of a sheet.
func sendSheet(ctx context.Context, c *caller, sheet []byte) response {
	var form bytes.Buffer
	form.WriteString("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"sheet.jpg\"\r\n\r\n")
	form.Write(sheet)
	form.WriteString("\r\n--b--\r\n")
	return c.request(ctx, http.MethodPost, "/v1/condition-report", &form, "Content-Type", "multipart/form-data; boundary=b")
}

// One key has as many sheets read as it can: it uses up its own tokens of the day.
func TestAttackAITokens(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, withAI(t, 0, "KEY_AI_TOKENS="+pick("500000", "40000")))
	next := sheets(t)
	var read, refused atomic.Int64
	s.attack(attack{
		name: "sheets until the AI's tokens of the key are used up", maxAPI: 256, maxWorker: 512,
		lead: pick(60*time.Second, 6*time.Second),
		run: func(ctx context.Context, attacker *caller) {
			atOnce(ctx, 4, func(ctx context.Context, _ int) {
				got := sendSheet(ctx, attacker, next())
				switch {
				case got.status == http.StatusOK:
					read.Add(1)
				case bytes.Contains(got.body, []byte("budget")):
					refused.Add(1)
				}
			})
		},
		victim: func(ctx context.Context, victim *caller, i int) response {
			if i%10 > 0 { // its own tokens are for some sheets
				return victim.request(ctx, http.MethodGet, "/v1/sites", http.NoBody)
			}
			return sendSheet(ctx, victim, next())
		},
	})
	if read.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d sheets were read, and %d refused because of the tokens", read.Load(), refused.Load())
	}
}

// One key has many sheets read by a slow model: it never has all the places of the AI.
func TestAttackAIPlaces(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, withAI(t, 200*time.Millisecond, "KEY_AI_TOKENS=0", "AI_DAILY_TOKENS=0"))
	next := sheets(t)
	s.attack(attack{
		name: fmt.Sprintf("%d sheets at once", pick(100, 20)), maxAPI: 256, maxWorker: 512,
		lead: pick(10*time.Second, 3*time.Second),
		run: func(ctx context.Context, attacker *caller) {
			atOnce(ctx, pick(100, 20), func(ctx context.Context, _ int) { sendSheet(ctx, attacker, next()) })
		},
		victim: func(ctx context.Context, victim *caller, _ int) response { return sendSheet(ctx, victim, next()) },
	})
}
