package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/app"
	"ushuru/tasks"
)

// A worker that called an AI serves at /metrics what the calls cost.
func TestMetricsCountTheAI(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	model := aitest.Start(t, aitest.Options{})
	free, err := app.Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	must(t, free.Close())
	options := s.workerOptions(tasks.Roles...)
	options.AI = oneAI(model.URL, aitest.Mark)
	options.AI.DailyTokens = 100_000
	s.start(app.Options{Worker: options, Admin: app.Admin{Addr: free.Addr().String()}})
	file := filepath.Join(t.TempDir(), "biante.html")
	must(t, os.WriteFile(file, []byte(page), 0o600))
	s.post(servePage(t, file)).estimate(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+free.Addr().String()+"/metrics", http.NoBody)
	must(t, err)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	for _, want := range []string{"ushuru_ai_", "go_goroutines"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
