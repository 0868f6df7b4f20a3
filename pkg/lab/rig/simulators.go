package rig

import (
	"context"
	"net/http"

	"ushuru/pkg/app"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/tra/tratest"
)

// Simulators are a SIMULATED site and authority in this process, for workers of their own
// processes.
type Simulators struct {
	Site, Authority string // URLs

	cleanup app.Cleanup
}

// StartSimulators starts them; both answer at once. pages is the site; nil is one of a few
// cars.
func StartSimulators(ctx context.Context, pages http.Handler) (s *Simulators, err error) {
	s = &Simulators{}
	if pages == nil {
		pages = Instant(listingtest.New())
	}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	authority, err := tratest.New(tratest.Options{})
	if err != nil {
		return nil, err
	}
	listener, err := app.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.Authority = "http://" + listener.Addr().String() + tratest.Path
	s.cleanup.Add(app.Serve(listener, authority, func(error) {}))
	if listener, err = app.Listen(ctx, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.Site = "http://" + listener.Addr().String()
	s.cleanup.Add(app.Serve(listener, pages, func(error) {}))
	return s, nil
}

// Stop stops them.
func (s *Simulators) Stop() { s.cleanup.Run() }
