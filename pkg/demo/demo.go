// Package demo is the whole service in one process around a SIMULATED
// authority, listing site and AI. The command demo shows it to a newcomer; the
// benchmark of batches measures it.
package demo

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"ushuru/api"
	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/app"
	"ushuru/pkg/fetch"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

// OperatorUser is the user of the demo's /monitoring.
const OperatorUser = "operator"

// waitMax is that of a service.
const waitMax = 25 * time.Second

// anyPort is an address on a free port of this machine.
const anyPort = "127.0.0.1:0"

// Options of Start. Redis and Log are required.
type Options struct {
	Redis *redisx.Conn // stays the caller's
	Log   *slog.Logger

	Listen string // address of the API; another port is used when it is taken; "" is any port
	Site   string // address of the listing site, likewise

	Pages       http.Handler // the listing site; nil is that of listingtest
	Limits      pace.Limits  // of the API key; 0 is no limit
	Roles       []tasks.Role // of the workers; nil is all roles
	BatchWindow int          // listings of batches processed at once; 0 is the worker's default
}

// Demo is the running service.
type Demo struct {
	*app.App

	URL       string // of the API
	Site      string // URL of the listing site
	Key       string // an API key
	Password  string // of /monitoring
	Authority *tratest.Simulator
	// AuthorityURL is the base URL of the authority, for another worker.
	AuthorityURL string

	simulators app.Cleanup
}

// Start starts everything. The context bounds the start only; call Stop at the
// end.
func Start(ctx context.Context, o Options) (_ *Demo, err error) {
	d := &Demo{Password: ulid.Make().String()}
	defer func() {
		if err != nil {
			d.simulators.Run()
		}
	}()
	worker, err := d.startSimulators(ctx, o)
	if err != nil {
		return nil, err
	}
	if d.Key, _, err = keys.NewStore(o.Redis.Client()).Create(ctx, "demo"); err != nil {
		return nil, err
	}
	listener, err := listenOrNext(ctx, o.Listen)
	if err != nil {
		return nil, err
	}
	d.URL = "http://" + listener.Addr().String()
	d.App, err = app.New(app.Options{ //nolint:contextcheck // the process outlives the start
		Redis: o.Redis, Log: o.Log, Worker: worker, AllowLoopback: true, Simulated: true,
		API: &app.APIOptions{
			Listener: listener, WaitMax: waitMax, Limits: o.Limits, Page: api.PageOptions{
				Enabled: true, Key: d.Key, Listing: d.Site + listingtest.Cars()[0].Path(),
			},
			MonitoringUser: OperatorUser, MonitoringPassword: d.Password,
		},
	})
	if err != nil {
		return nil, err
	}
	if err := d.Start(ctx); err != nil {
		d.App.Stop()
		return nil, err
	}
	return d, nil
}

// Stop stops the service, then the simulators.
func (d *Demo) Stop() {
	d.App.Stop()
	d.simulators.Run()
}

// startSimulators returns the options of a worker that calls them.
func (d *Demo) startSimulators(ctx context.Context, o Options) (*app.WorkerOptions, error) {
	var err error
	if d.Authority, err = tratest.New(tratest.Options{}); err != nil {
		return nil, err
	}
	authority, err := d.serve(ctx, o, anyPort, d.Authority)
	if err != nil {
		return nil, err
	}
	d.AuthorityURL = authority + tratest.Path
	if o.Pages == nil {
		o.Pages = listingtest.New()
	}
	if d.Site, err = d.serve(ctx, o, o.Site, o.Pages); err != nil {
		return nil, err
	}
	worker := &app.WorkerOptions{
		Roles: o.Roles, BatchWindow: o.BatchWindow, ShutdownTimeout: 5 * time.Second,
		Fetch:     fetch.Options{Timeout: 30 * time.Second},
		Authority: tra.Options{BaseURL: d.AuthorityURL, Timeout: 10 * time.Second},
	}
	if worker.Roles == nil {
		worker.Roles = tasks.Roles
	}
	if !slices.Contains(worker.Roles, tasks.RoleAI) {
		return worker, nil
	}
	model, err := d.serve(ctx, o, anyPort, aitest.New(aitest.Options{}))
	if err != nil {
		return nil, err
	}
	worker.AI = ai.Options{
		Endpoints: []ai.Endpoint{{BaseURL: model + aitest.Path, Model: aitest.Mark, Key: aitest.Mark}},
		Timeout:   10 * time.Second, AnswerTTL: time.Hour,
	}
	return worker, nil
}

// serve runs a simulator and returns its URL.
func (d *Demo) serve(ctx context.Context, o Options, address string, handler http.Handler) (string, error) {
	listener, err := listenOrNext(ctx, address)
	if err != nil {
		return "", err
	}
	d.simulators.Add(app.Serve(listener, handler, func(err error) { o.Log.Error("simulator stopped", "error", err) }))
	return "http://" + listener.Addr().String(), nil
}

// listenOrNext opens a port, or a free port of the same host when that is
// taken.
func listenOrNext(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		address = anyPort
	}
	listener, err := app.Listen(ctx, address)
	if err == nil {
		return listener, nil
	}
	host, _, splitErr := net.SplitHostPort(address)
	if splitErr != nil {
		return nil, err
	}
	return app.Listen(ctx, net.JoinHostPort(host, "0"))
}
