package e2e

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"ushuru/pkg/app"
	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx/redistest"
)

func TestDemoEstimatesItsListingsAndStops(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("demo", func(t *testing.T) {
		conn := redistest.Embedded(t)
		taken, err := app.Listen(t.Context(), "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { _ = taken.Close() })
		service, err := demo.Start(t.Context(), demo.Options{
			Redis: conn, Log: slog.New(slog.DiscardHandler), Listen: taken.Addr().String(), Site: taken.Addr().String(),
		})
		must(t, err)
		t.Cleanup(service.Stop)
		api, err := client.New(client.Options{URL: service.URL, Key: service.Key})
		must(t, err)
		estimate, err := api.Estimate(t.Context(), client.EstimateRequest{URL: service.Site + listingtest.Cars()[0].Path()})
		must(t, err)
		if estimate.Tax.ReferenceNumber[:3] != "SIM" {
			t.Errorf("reference number %s", estimate.Tax.ReferenceNumber)
		}
	})
	goleak.VerifyNone(t, before, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}
