package aitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// chatRequest is what the simulator understands of a request. Other fields of
// the real API are refused, so that a client does not come to count on them.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Stream              bool            `json:"stream"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"`
	Seed                *int            `json:"seed"`
	ResponseFormat      *responseFormat `json:"response_format"`

	schema *schema // of ResponseFormat, checked
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Strict      bool            `json:"strict"`
		Schema      json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// mostTokens is the limit of the answer.
func (r *chatRequest) mostTokens() int {
	for _, limit := range []*int{r.MaxCompletionTokens, r.MaxTokens} {
		if limit != nil {
			return *limit
		}
	}
	return 4096
}

// promptTokens counts four bytes as a token, and pictures by their pixels.
func (r *chatRequest) promptTokens() int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.text)/4 + 4
		for _, p := range m.pictures {
			n += p.Bounds().Dx()*p.Bounds().Dy()/pixelsOfToken + 1
		}
	}
	return n
}

const invalidRequest = "invalid_request_error"

// apiError is the shape of all errors of the API.
type apiError struct {
	status  int
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func badRequest(param, format string, args ...any) *apiError {
	e := &apiError{status: http.StatusBadRequest, Type: invalidRequest, Message: fmt.Sprintf(format, args...)}
	if param != "" {
		e.Param = &param
	}
	return e
}

func (e *apiError) code(code string) *apiError {
	e.Code = &code
	return e
}

// reject counts and writes an error. Its text is that of the real API, and its
// header says that it is not.
func (s *Simulator) reject(w http.ResponseWriter, e *apiError) {
	s.mu.Lock()
	s.counts.Rejected++
	s.mu.Unlock()
	writeJSON(w, e.status, map[string]any{"error": e})
}

var serial atomic.Int64

// completion is the answer in the shape of the API.
func completion(r *chatRequest, a answer, f fault) any {
	prompt, spent := a.promptTokens, a.completionTokens()
	whole := map[string]any{
		"id":                 fmt.Sprintf("chatcmpl-%s-%d", Mark, serial.Add(1)),
		"object":             "chat.completion",
		"created":            time.Now().Unix(),
		"model":              Mark + "-" + r.Model,
		"system_fingerprint": "fp_" + Mark,
		"usage":              map[string]int{"prompt_tokens": prompt, "completion_tokens": spent, "total_tokens": prompt + spent},
		"choices":            []any{},
	}
	if f.EmptyChoices {
		return whole
	}
	reply := map[string]any{"role": "assistant", "content": a.content, "refusal": nil}
	if a.refusal != "" {
		reply["content"], reply["refusal"] = nil, a.refusal
	}
	whole["choices"] = []any{map[string]any{"index": 0, "message": reply, "logprobs": nil, "finish_reason": a.finish}}
	return whole
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
