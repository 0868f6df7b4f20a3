package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/client"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
)

// wants runs a command of a caller and compares its exit status and what it prints.
func (s *stack) wants(status int, printed string, args ...string) string {
	s.t.Helper()
	got, out, errs := s.asked(args...)
	if got != status || !strings.Contains(out+errs, printed) {
		s.t.Errorf("%s: status %d, want %d with %q:\n%s%s", strings.Join(args, " "), got, status, printed, out, errs)
	}
	return out
}

func TestCommandsAboutJobsAndBatches(t *testing.T) {
	t.Parallel()
	s := newStack(t, redistest.Open(t, redistest.Start(t).URL))
	s.work(tasks.Roles...)
	s.wants(console.ExitOK, "ready", "status")
	s.wants(console.ExitOK, `"status": "`, "status", "--json")

	id := s.submit(s.car(1))
	var estimate struct {
		Matched struct {
			ModelBody string `json:"modelBody"`
		} `json:"matched"`
	}
	must(t, json.Unmarshal([]byte(s.wants(console.ExitOK, `"matched"`, "jobs", "follow", id)), &estimate))
	if estimate.Matched.ModelBody == "" {
		t.Error("jobs follow printed no estimate")
	}
	s.wants(console.ExitOK, "3 of 3", "jobs", "show", id)
	s.wants(console.ExitOK, `"result"`, "jobs", "show", id, "--json")
	s.wants(console.ExitRefused, "job_ended", "jobs", "cancel", id)
	s.wants(console.ExitRefused, "job_not_found", "jobs", "show", "01NOSUCHJOB")
	s.wants(console.ExitRefused, "listing_gone", "jobs", "follow", s.submit(s.site+"/gone"))
	s.wants(console.ExitOK, id, "jobs", "list", "--state", "succeeded")
	var failed []client.ListedJob
	must(t, json.Unmarshal([]byte(s.wants(console.ExitOK, "listing_gone", "jobs", "list", "--json", "--state", "failed")), &failed))
	s.wants(console.ExitRefused, "listing_gone", "jobs", "retry", failed[0].ID)
	s.wants(console.ExitRefused, "job_not_failed", "jobs", "retry", id)

	dir := t.TempDir()
	table, out := filepath.Join(dir, "lots.csv"), filepath.Join(dir, "out.csv")
	must(t, os.WriteFile(table, []byte("reference,url\nA,"+s.car(0)+"\nB,"+s.site+"/gone\n"), 0o600))
	s.wants(console.ExitRows, "1 succeeded, 1 failed", "batch", table, "--out", out)
	s.wants(console.ExitOK, "  1 listing_gone: ", "batch", table, "--out", out, "--allow-failures")
	var ended struct {
		Counts   map[string]int `json:"counts"`
		Failures []struct {
			Code  string   `json:"code"`
			First []string `json:"first"`
		} `json:"failures"`
	}
	must(t, json.Unmarshal([]byte(s.wants(console.ExitRows, `"listing_gone"`, "batch", table, "--out", out, "-o", "json")), &ended))
	if len(ended.Failures) != 1 || ended.Failures[0].First[0] != "3" || ended.Counts["failed"] != 1 {
		t.Errorf("batch -o json: got %+v, want one row of listing_gone, the third line", ended)
	}
	var batches []client.Batch
	must(t, json.Unmarshal([]byte(s.wants(console.ExitOK, "completed", "batches", "list", "--json", "--limit", "1")), &batches))
	if len(batches) != 1 {
		t.Fatalf("%d batches", len(batches))
	}
	batch := batches[0].ID
	s.wants(console.ExitOK, "1 succeeded, 1 failed", "batches", "list")
	s.wants(console.ExitOK, "2: 1 succeeded, 1 failed", "batches", "show", batch)
	s.wants(console.ExitOK, "listing_gone", "batches", "rows", batch, "--state", "failed")
	s.wants(console.ExitOK, "2:", "batches", "retry", batch)
	s.wants(console.ExitRows, "1 failed", "batches", "follow", batch)
	s.wants(console.ExitOK, "completed", "batches", "follow", batch, "--allow-failures")
	s.wants(console.ExitOK, "completed", "batches", "cancel", batch)
	s.wants(console.ExitOK, "", "batches", "results", batch, "--out", out)
	if data, err := os.ReadFile(out); err != nil || !strings.Contains(string(data), "listing_gone") {
		t.Errorf("results %s, %v", data, err)
	}
	s.wants(console.ExitRefused, "format_unknown", "batches", "results", batch, "--out", filepath.Join(dir, "out.txt"))
	s.wants(console.ExitRefused, "batch_not_found", "batches", "follow", "01NOSUCHBATCH")
}

func TestCommandsAboutComparisonsAndReports(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	s.workWithAI()
	s.wants(console.ExitOK, `"verdict"`, "compare", s.car(0), s.car(1))
	s.wants(console.ExitOK, "gari", "compare", s.car(0), s.car(1), "--table", "--lang", "sw")
	s.wants(console.ExitOK, "hadi gari liwe barabarani", "estimate", s.car(0), "--table", "--lang", "sw")
	s.wants(console.ExitOK, "hadi gari liwe barabarani", "quote", "--make", "TOYOTA", "--model", "COROLLA AXIO", "--model-code", "NKE165",
		"--year", "2019", "--fob", "6150", "--table", "--lang", "sw")
	s.wants(console.ExitRefused, "same_listing", "compare", s.car(0), s.car(0))
	drawing := filepath.Join(t.TempDir(), "map.svg")
	s.wants(console.ExitOK, "1. At a glance", "report", demoSheet, "--map", drawing)
	if data, err := os.ReadFile(drawing); err != nil || !strings.Contains(string(data), "<svg") {
		t.Errorf("the map %.60s, %v", data, err)
	}
	s.wants(console.ExitOK, `"lang": "sw"`, "report", demoSheet, "--lang", "sw", "--json")
	s.wants(console.ExitRefused, "JPEG", "report", "caller_test.go")
}

func TestCommandsAboutWebhooks(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	s.work(tasks.Roles...)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event struct {
			Data struct {
				Challenge string `json:"challenge"`
			} `json:"data"`
		}
		_ = json.NewDecoder(r.Body).Decode(&event)
		_, _ = io.WriteString(w, event.Data.Challenge)
	}))
	t.Cleanup(receiver.Close)
	var hook client.Webhook
	must(t, json.Unmarshal([]byte(s.wants(console.ExitOK, "whsec_", "webhooks", "create", receiver.URL, "--json")), &hook))
	s.wants(console.ExitOK, hook.ID, "webhooks", "list")
	s.wants(console.ExitOK, "webhook.test", "webhooks", "test", hook.ID)
	var all []client.Delivery
	testenv.Await(t, "the delivery", func() (any, bool) {
		must(t, json.Unmarshal([]byte(s.wants(console.ExitOK, "[", "webhooks", "deliveries", hook.ID, "--json")), &all))
		return all, len(all) > 1 && all[0].State == "delivered"
	})
	s.wants(console.ExitOK, all[0].ID, "webhooks", "retry", hook.ID, all[0].ID)
	s.wants(console.ExitOK, "verified", "webhooks", "show", hook.ID)
	s.wants(console.ExitOK, "whsec_", "webhooks", "rotate", hook.ID)
	s.wants(console.ExitOK, "Events   job.completed\n", "webhooks", "update", hook.ID, "--events", "job.completed")
	s.wants(console.ExitOK, "verified", "webhooks", "enable", hook.ID)
	s.wants(console.ExitOK, "webhook.verification", "webhooks", "challenge", hook.ID)
	s.wants(console.ExitOK, "deleted", "webhooks", "cancel", hook.ID)
	s.wants(console.ExitRefused, "webhook_not_found", "webhooks", "show", hook.ID)
}

// Where there is no API the commands say so at once, and leave no file.
func TestNoAPIIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	dir := t.TempDir()
	table, out := filepath.Join(dir, "lots.csv"), filepath.Join(dir, "out.csv")
	must(t, os.WriteFile(table, []byte("url\nhttps://example.com/1\n"), 0o600))
	for _, args := range [][]string{
		{"estimate", "https://example.com/1"}, {"status"}, {"batches", "follow", "01"}, {"batch", table, "--out", out},
	} {
		var errs strings.Builder
		began := time.Now()
		status := cli.Main(t.Context(), append(args, "--url", gone.URL, "--key", "ush_x"), cli.Streams{Out: io.Discard, Err: &errs})
		if status != console.ExitFailure || !strings.Contains(errs.String(), "there is no API") || time.Since(began) > 10*time.Second {
			t.Errorf("%v: %d after %v: %s", args, status, time.Since(began), errs.String())
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

func TestHelpVersionAndCompletion(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"Exit status:":      nil,
		", commit ":         {"--version"},
		"completion -c zsh": {"completion", "zsh"},
	} {
		var out strings.Builder
		if status := cli.Main(t.Context(), args, cli.Streams{Out: &out, Err: io.Discard}); status != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%v: %d %s", args, status, out.String())
		}
	}
	if status, out := programWith(t, []string{"COMP_LINE=ushuru batches re"}); status != 0 ||
		!strings.Contains(out, "results\n") || !strings.Contains(out, "retry\n") || strings.Contains(out, "show") {
		t.Errorf("completed: %d %q", status, out)
	}
}
