package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"ushuru/api"
	"ushuru/pkg/keys"
	"ushuru/pkg/redisx"
)

// A request that does not wait gets the URL of its job. The same request under
// one Idempotency-Key gets the same job.
func ExampleNew() {
	ctx := context.Background()
	conn, err := redisx.Open(ctx, redisx.Options{AllowEmbedded: true})
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	options := newOptions(conn) // one store of each kind
	options.Log = slog.New(slog.DiscardHandler)
	key, _, err := keys.NewStore(options.Redis).Create(ctx, "example")
	if err != nil {
		panic(err)
	}
	server, err := api.New(options)
	if err != nil {
		panic(err)
	}
	defer server.Close()

	send := func() (status int, location string) {
		body := strings.NewReader(`{"url": "https://www.beforward.jp/toyota/corolla-fielder/cb123456/id/1234567/"}`)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/estimate", body)
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Prefer", "respond-async")
		r.Header.Set("Idempotency-Key", "8e03978e-40d5-43dd-bc93-6894a57f9324")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w.Code, w.Header().Get("Location")
	}
	status, first := send()
	_, second := send()
	fmt.Println(status, strings.HasPrefix(first, "/v1/jobs/"), first == second)
	// Output: 202 true true
}

// Every error has a sentence for people and a code for programs.
func ExampleServer_ServeHTTP() {
	ctx := context.Background()
	conn, err := redisx.Open(ctx, redisx.Options{AllowEmbedded: true})
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	options := newOptions(conn)
	options.Log = slog.New(slog.DiscardHandler)
	key, _, err := keys.NewStore(options.Redis).Create(ctx, "example")
	if err != nil {
		panic(err)
	}
	server, err := api.New(options)
	if err != nil {
		panic(err)
	}
	defer server.Close()

	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/quote", strings.NewReader(`{"make": "TOYOTA", "year": 2016}`))
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("X-Request-ID", "my-request-17")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	var indented bytes.Buffer
	if err := json.Indent(&indented, w.Body.Bytes(), "", "  "); err != nil {
		panic(err)
	}
	fmt.Println(w.Code)
	fmt.Println(&indented)
	// Output:
	// 400
	// {
	//   "error": "\"model\" is required unless modelCode, rawModelCode or modelBody is sent.",
	//   "code": "field_invalid",
	//   "values": {
	//     "field": "model"
	//   },
	//   "retryable": false,
	//   "param": "model",
	//   "request": "my-request-17"
	// }
}
