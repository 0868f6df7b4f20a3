package problem_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"

	"ushuru/api/problem"
	"ushuru/pkg/message"
)

func TestWhoMustAct(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code      string
		permanent bool
		status    int
		retryable bool
		level     slog.Level
	}{
		{"no_match", true, 422, false, slog.LevelInfo},
		{"ambiguous_match", true, 422, false, slog.LevelInfo},
		{"not_a_listing", true, 422, false, slog.LevelInfo},
		{"listing_gone", false, 422, false, slog.LevelInfo}, // stored by an earlier version
		{"sheet_damaged", true, 400, false, slog.LevelInfo},
		{"not_a_sheet", true, 400, true, slog.LevelInfo},
		{"page_expired", true, 400, false, slog.LevelInfo},
		{"sheet_too_large", true, 413, false, slog.LevelInfo},
		{"listing_blocked", true, 500, false, slog.LevelWarn},
		{"listing_blocked", false, 500, true, slog.LevelWarn}, // for a moment
		{"fetch_timeout", false, 500, true, slog.LevelWarn},
		{"host_busy", true, 500, true, slog.LevelWarn},
		{"authority_refused", false, 500, true, slog.LevelWarn},
		{"ai_failed", true, 500, false, slog.LevelWarn},
		{"no_ai", true, 503, false, slog.LevelWarn},
		{"internal", false, 500, true, slog.LevelError},
		{"worker_lost", false, 500, true, slog.LevelError},
	} {
		p := problem.OfJob(message.Notice{Code: c.code, Message: c.code}, c.permanent)
		if p.Status != c.status || p.Retryable() != c.retryable || p.Level() != c.level {
			t.Errorf("%s: %d, retryable %v, %v; want %+v", c.code, p.Status, p.Retryable(), p.Level(), c)
		}
	}
	for _, code := range message.DefiniteCodes() {
		compared := problem.OfJob(message.Notice{Code: code}, true)
		compared.Status = http.StatusInternalServerError // as a comparison answers
		if compared.Retryable() || compared.Level() != slog.LevelInfo {
			t.Errorf("%s of a comparison: retryable %v, %v", code, compared.Retryable(), compared.Level())
		}
	}
}

func TestEveryBodyHasWhatAProgramNeeds(t *testing.T) {
	t.Parallel()
	p := problem.Field("costs.freightUSD", "amount", 0, 10)
	p.Request = "r1"
	var body struct {
		Retryable *bool  `json:"retryable"`
		Param     string `json:"param"`
		Request   string `json:"request"`
	}
	data, err := p.Encode()
	if err != nil || json.Unmarshal(data, &body) != nil {
		t.Fatal(err, string(data))
	}
	if body.Retryable == nil || *body.Retryable || body.Param != "costs.freightUSD" || body.Request != "r1" {
		t.Errorf("%s", data)
	}
}
