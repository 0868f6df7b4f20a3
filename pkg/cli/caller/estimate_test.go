package caller

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
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
