package cli

import (
	"strings"
	"testing"

	"ushuru/pkg/ai"
	"ushuru/pkg/cli/service"
)

// set is the AI's settings with their defaults.
func set(model, url, key string) AIConfig {
	if url == "" {
		url = "https://api.openai.com/v1"
	}
	return AIConfig{AIModel: model, AIBaseURL: url, AIAPIKey: Secret(key), Day: service.DayBudget{AIDailyTokens: 1}}
}

func TestEndpointsOfTheSettings(t *testing.T) {
	const openAI, ollama = "https://api.openai.com/v1", "http://localhost:11434/v1"
	for name, test := range map[string]struct {
		config AIConfig
		want   []ai.Endpoint
	}{
		"off":    {set("", "", ""), nil},
		"openai": {set("small", "", "sk-1"), []ai.Endpoint{{BaseURL: openAI, Model: "small", Key: "sk-1"}}},
		"ollama": {set("llama", ollama, ""), []ai.Endpoint{{BaseURL: ollama, Model: "llama"}}},
		"both": {
			set("small, llama", openAI+", "+ollama, "sk-1,"),
			[]ai.Endpoint{{BaseURL: openAI, Model: "small", Key: "sk-1"}, {BaseURL: ollama, Model: "llama"}},
		},
	} {
		got, err := test.config.endpoints()
		if err != nil || len(got) != len(test.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%s: got %+v, want %+v", name, got[i], test.want[i])
			}
		}
	}
}

func TestSettingsOfTheAIThatCannotBe(t *testing.T) {
	for want, config := range map[string]AIConfig{
		"AI_MODEL is empty":     set("", "", "sk-hush"),
		"AI_BASE_URL and AI_AP": set("a,b", "", ""),
		"as many entries as AI": set("a,b", "http://a/v1,http://b/v1", "sk-hush"),
		"endpoint 1: the base":  set("a", "https://x:hush@a/v1", ""),
		"endpoint 2: no model":  set("a,", "http://a/v1,http://b/v1", ""),
	} {
		_, err := config.endpoints()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
