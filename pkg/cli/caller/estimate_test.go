package caller

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/bill"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/cost"
)

// An estimate is asked in the language in which it is printed: the sentences are the API's.
func TestAnEstimateIsAskedInItsLanguage(t *testing.T) {
	t.Parallel()
	answer, err := os.ReadFile("testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	var asked strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.WriteString(r.URL.Path + " " + r.URL.Query().Get("lang") + "; ")
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	config := service.API{APIURL: server.URL, Key: "k", Timeout: time.Minute}
	as := outputOptions{console.Answer{Table: true}, "sw"}
	for _, command := range []interface {
		Run(s *service.Session) error
	}{
		&Estimate{API: config, outputOptions: as, Listing: "https://cars.example/1"},
		&Quote{API: config, outputOptions: as, Make: "TOYOTA", Year: 2019},
	} {
		s := &service.Session{Log: slog.New(slog.DiscardHandler), Console: &console.Console{
			Streams: console.Streams{Out: &bytes.Buffer{}, Err: io.Discard}, Ctx: t.Context(),
		}}
		if err := command.Run(s); err != nil {
			t.Errorf("%T: %v", command, err)
		}
	}
	if got, want := asked.String(), "/v1/estimate sw; /v1/quote sw; "; got != want {
		t.Errorf("the API was asked %s, want %s", got, want)
	}
}

// A bill from standard input is judged, and printed in both languages and as JSON.
func TestABillIsChecked(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			URL  string `json:"url"`
			Text string `json:"text"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/bill-check" || body.URL != "" {
			t.Errorf("got %s %+v, %v", r.URL.Path, body, err)
		}
		answer, ok := bill.Check{Tables: cost.Embedded(), Day: time.Now()}.Judge(bill.FromText(body.Text))
		if !ok {
			t.Errorf("no amount in %q", body.Text)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		as   outputOptions
		want []string
	}{
		"English":   {outputOptions{console.Answer{Table: true}, "en"}, []string{"of the lines 1", "Agency fee", "below", "100000.00"}},
		"Kiswahili": {outputOptions{console.Answer{Table: true}, "sw"}, []string{"Agency fee", "below"}},
		"JSON":      {outputOptions{Lang: "en"}, []string{`"code":"clearing_agent"`, `"verdict":"below"`}},
	} {
		var out bytes.Buffer
		s := &service.Session{Log: slog.New(slog.DiscardHandler), Console: &console.Console{
			Streams: console.Streams{In: strings.NewReader("Agency fee 100,000\nWharfage 450,000"), Out: &out, Err: io.Discard}, Ctx: t.Context(),
		}}
		command := Bill{
			API: service.API{APIURL: server.URL, Key: "k", Timeout: time.Minute}, outputOptions: c.as, Listing: "-", File: "-",
		}
		if err := command.Run(s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := strings.ReplaceAll(out.String(), `": `, `":`)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
	}
}
