package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra/tratest"
)

// examined returns what doctor finds, by part, and its exit status.
func examined(t *testing.T, process string) (status int, found map[string]finding, out string) {
	t.Helper()
	status, out, errs := runWith(t, "doctor", process, "-o", "json")
	var all []finding
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	found = map[string]finding{}
	for _, one := range all {
		if before, ok := found[one.Part]; !ok || before.OK {
			found[one.Part] = one
		}
		if !one.OK && one.Do == "" {
			t.Errorf("nothing to do about %+v", one)
		}
	}
	return status, found, out
}

// Everything is well; then one thing after the other is ill, and doctor names it alone.
func TestDoctorNamesWhatIsIll(t *testing.T) {
	server := redistest.Start(t, redistest.AOF())
	authority := tratest.Start(t, tratest.Options{})
	answer := http.StatusOK
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" && r.Header.Get("Authorization") != "Bearer valid" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(answer)
	}))
	t.Cleanup(other.Close)
	for name, value := range map[string]string{
		"REDIS_URL": server.URL, "AUTHORITY_URL": authority.URL, "ALLOW_LOOPBACK": "true", "PAGE": "true", "PAGE_URL": other.URL,
		"AI_MODEL": "model", "AI_BASE_URL": other.URL + "/v1", "AI_API_KEY": "valid", "ADMIN_ADDR": redistest.FreeAddress(t),
	} {
		t.Setenv(name, value)
	}
	status, found, out := examined(t, "serve")
	for _, part := range []string{"settings", "redis", "processes", "work", "tra", "ai", "metrics", "page"} {
		if !found[part].OK {
			t.Errorf("%s is %+v, want it to be well", part, found[part])
		}
	}
	if status != 0 {
		t.Errorf("status %d, want 0\n%s", status, out)
	}

	for part, spoil := range map[string]func(t *testing.T){
		"settings": func(t *testing.T) { t.Helper(); t.Setenv("KEY_JOBS", "many") },
		"redis":    func(t *testing.T) { t.Helper(); t.Setenv("REDIS_URL", redistest.Start(t).URL) }, // keeps nothing
		"tra": func(t *testing.T) {
			t.Helper()
			authority.SetFaults(tratest.Faults{Status: http.StatusForbidden})
			t.Cleanup(func() { authority.SetFaults(tratest.Faults{}) })
		},
		"ai":   func(t *testing.T) { t.Helper(); t.Setenv("AI_API_KEY", "invalid-hush") },
		"page": func(t *testing.T) { t.Helper(); t.Setenv("PAGE_URL", other.URL+"/no"); answer = http.StatusBadGateway },
		"metrics": func(t *testing.T) {
			t.Helper()
			t.Setenv("ADMIN_ADDR", strings.TrimPrefix(other.URL, "http://"))
			answer = 503
		},
	} {
		t.Run(part, func(t *testing.T) {
			t.Cleanup(func() { answer = http.StatusOK })
			spoil(t)
			status, found, out := examined(t, "serve")
			if status != 1 || found[part].OK || strings.Contains(out, "hush") {
				t.Errorf("status %d, %s is %+v, want it to be ill\n%s", status, part, found[part], out)
			}
		})
	}
	t.Run("settings that cannot be used", func(t *testing.T) {
		t.Setenv("AUTHORITY_RATE", "many")
		if status, found, out := examined(t, "worker"); status != 1 || found["settings"].OK || len(found) != 1 {
			t.Errorf("status %d: %s", status, out)
		}
	})
}
