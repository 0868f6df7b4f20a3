package ai

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
)

// TestErrorsOfOtherServers has the shapes of Ollama, vLLM, FastAPI and
// gateways.
func TestErrorsOfOtherServers(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		kind   Kind
		says   string
	}{
		{404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, Misconfigured, "no such model"},
		{404, `{"error":"model 'x' not found"}`, Misconfigured, "no such model"},
		{404, "404 page not found", Misconfigured, "no such model"},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, TooLong, ""},
		{400, `{"error":{"message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}}`, TooLong, ""},
		{400, `{"error":"json: schema is too deep"}`, Rejected, "json: schema is too deep"},
		{422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, Rejected, "does not say why"},
		{400, "<html><body>sk-1234567890</body></html>", Rejected, "does not say why"},
		{413, "", TooLong, ""},
		{503, `{"error":"server busy, please try again"}`, Unavailable, "the server fails"},
		{502, "<html></html>", Unavailable, ""},
		{200, `{"error":{"message":"upstream failed"}}`, NoChoices, ""},
		{200, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":""}}]}`, NoChoices, "empty"},
		{200, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null}}]}`, NoChoices, "empty"},
		{200, `{"choices":"none"}`, NotJSON, "no JSON of the chat API"},
		{200, ``, NotJSON, ""},
		{200, `OK`, NotJSON, ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.body))
		}))
		e := newEndpoint(Endpoint{BaseURL: server.URL, Model: "x"}, "host", time.Second, time.Now)
		_, failure := e.call(t.Context(), &request{name: "q", schema: allSchema, maxTokens: 5})
		if failure == nil || failure.Kind != test.kind || !strings.Contains(failure.Message, test.says) {
			t.Errorf("%d %s: got %v", test.status, test.body, failure)
		}
		server.Close()
	}
}

func TestTheLimitHasTheNameThatTheServerKnows(t *testing.T) {
	for _, test := range []struct {
		host, model string
		completion  bool
	}{
		{"api.openai.com", "anything", true},
		{"proxy.example", "gpt-5-mini", true},
		{"proxy.example", "o4-mini", true},
		{"localhost:11434", "gpt-oss:20b", false},
		{"localhost:11434", "qwen3:8b", false},
		{"vllm:8000", "org/model", false},
	} {
		e := newEndpoint(Endpoint{BaseURL: "http://" + test.host, Model: test.model}, test.host, time.Second, time.Now)
		chat := e.chat(&request{name: "q", schema: allSchema, maxTokens: 7})
		old := chat.MaxTokens //nolint:staticcheck // deprecated by OpenAI alone
		if got := chat.MaxCompletionTokens == 7; got != test.completion || chat.MaxCompletionTokens+old != 7 {
			t.Errorf("%+v: max_tokens %d, max_completion_tokens %d", test, old, chat.MaxCompletionTokens)
		}
	}
}

func TestAServerThatDoesNotCountIsCountedFor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"{\"a\":1}"}}],"usage":{"prompt_tokens":-5}}`))
	}))
	defer server.Close()
	e := newEndpoint(Endpoint{BaseURL: server.URL, Model: "x"}, "host", time.Second, time.Now)
	reply, failure := e.call(t.Context(), &request{name: "q", system: strings.Repeat("s", 300), schema: allSchema, maxTokens: 5})
	if failure != nil || reply.prompt != 100 || reply.completion != 2 {
		t.Errorf("got %+v, %v", reply, failure)
	}
}

// A server that refuses a JSON schema, and then temperature or seed, is asked without
// them: with json_object and the schema in the text. It is not asked for them again.
func TestAServerIsAskedWithoutWhatItRefuses(t *testing.T) {
	t.Parallel()
	var got []openai.ChatCompletionRequest
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var chat openai.ChatCompletionRequest
		if err := json.NewDecoder(r.Body).Decode(&chat); err != nil {
			t.Error(err)
		}
		got = append(got, chat)
		switch {
		case chat.ResponseFormat.Type == openai.ChatCompletionResponseFormatTypeJSONSchema:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":{"message":"response_format json_schema is not supported"}}`))
		case chat.Seed != nil:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":{"message":"unknown field seed"}}`))
		default:
			_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"{\"a\":1}"}}],"usage":{"prompt_tokens":5}}`))
		}
	}))
	t.Cleanup(server.Close)
	e := newEndpoint(Endpoint{BaseURL: server.URL, Model: "x"}, "host", time.Second, time.Now)
	for range 2 {
		answer, failure := e.call(t.Context(), &request{name: "q", system: "Answer.", schema: allSchema, maxTokens: 5})
		if failure != nil || answer.content != `{"a":1}` {
			t.Fatalf("got %+v, %v", answer, failure)
		}
	}
	if len(got) != 4 {
		t.Fatalf("got %d requests, want 3 for the first question and 1 for the second", len(got))
	}
	if first := got[0]; first.Seed == nil || first.Temperature > 0.001 {
		t.Errorf("the first request has seed %v and temperature %v, want a seed and 0", first.Seed, first.Temperature)
	}
	last := got[3]
	if last.ResponseFormat.Type != openai.ChatCompletionResponseFormatTypeJSONObject || !strings.Contains(last.Messages[0].Content, `"properties"`) {
		t.Errorf("got %+v, want json_object and the schema in the text", last)
	}
}
