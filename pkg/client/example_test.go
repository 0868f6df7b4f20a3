package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"ushuru/pkg/client"
	"ushuru/pkg/vehicle"
)

// PostAndWait posts a request and waits for its result, however long the job takes.
func ExampleClient_PostAndWait() {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Authorization"))
		_, _ = w.Write([]byte(`{"car":{"make":"TOYOTA","model":"COROLLA AXIO"},"tax":{"totalTaxesInTZS":"6,103,288.09"}}`))
	}))
	defer api.Close()

	ushuru, err := client.New(client.Options{URL: api.URL, Key: "ush_example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := ushuru.PostAndWait(context.Background(), "/v1/estimate",
		map[string]string{"url": "https://www.example.com/car/1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var estimate vehicle.Estimate
	if err := json.Unmarshal(result, &estimate); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(estimate.Car.Make, estimate.Car.Model, "TZS", estimate.Tax.TotalTaxesInTZS)
	// Output:
	// POST /v1/estimate Bearer ush_example
	// TOYOTA COROLLA AXIO TZS 6,103,288.09
}

// An error of the API is a *client.Error with its code.
func ExampleError() {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write([]byte(`{"error":"The listing no longer exists.","code":"listing_gone"}`))
	}))
	defer api.Close()

	ushuru, err := client.New(client.Options{URL: api.URL, Key: "ush_example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = ushuru.Do(context.Background(), client.Request{Path: "/v1/estimate", Body: []byte(`{"url":"https://www.example.com/car/1"}`)})
	if refused, ok := err.(*client.Error); ok { //nolint:errorlint // an example; errors.AsType does it too
		fmt.Println(refused.Status, refused.Code, refused.Message)
	}
	// Output: 422 listing_gone The listing no longer exists.
}
