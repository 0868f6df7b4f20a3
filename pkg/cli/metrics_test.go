package cli

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/match"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// A worker that asked an AI shows at /metrics what that cost.
func TestMetricsCountTheAI(t *testing.T) {
	server := httptest.NewServer(aitest.New(aitest.Options{}))
	t.Cleanup(server.Close)
	r := &run{ctx: context.Background(), log: slog.New(slog.DiscardHandler), failed: make(chan error, 1)}
	t.Cleanup(r.close)
	free, err := r.listen("127.0.0.1:0")
	must(t, err)
	must(t, free.Close())
	counters, err := r.metrics(address(free.Addr().String()))
	must(t, err)
	config := aiConfig{
		AIModel: aitest.Mark, AIBaseURL: server.URL + aitest.Path, AIAPIKey: aitest.Mark, AITimeout: 10 * time.Second, AIRuns: 1,
	}
	model, err := r.model(config, nil, counters)
	must(t, err)
	choice, err := match.New(config.matching(model)).Choose(t.Context(), vehicle.Car{
		Make: "MAZDA", Model: "BIANTE", Year: 2013, EngineCC: 1998, Fuel: "PETROL",
	}, tra.NewCatalogue([]tra.MakeLabels{{Make: tra.Make{ID: 7, Name: "MAZDA"}, Labels: []string{"BIANTE - CCEAW - MINIVAN"}}}))
	must(t, err)
	if choice.MatchType != vehicle.LLMFuzzy {
		t.Fatalf("%+v", choice)
	}
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
