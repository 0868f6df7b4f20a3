package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"ushuru/pkg/app"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/cost"
	"ushuru/pkg/redisx"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/tra"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// sharedConfig is what the API and the workers must have alike.
type sharedConfig struct {
	service.Redis
	adminConfig
	traceConfig
	costConfig
	sheetConfig
	service.KeyBudget
	secretsConfig
	AllowVolatile bool `env:"ALLOW_VOLATILE" help:"Allow a Redis without an append-only file, whose restart loses jobs, in production."`
	AllowLoopback bool `env:"ALLOW_LOOPBACK" help:"Allow listings and sheets on this machine, such as those of simulate site; the same on API and workers; refused in production."`
}

// apiCommand runs the API.
type apiCommand struct {
	sharedConfig
	httpConfig
}

// Run is called by kong.
func (c *apiCommand) Run(r *run) error {
	return r.serve(c.sharedConfig, parts{http: &c.httpConfig})
}

// workerCommand runs the workers.
type workerCommand struct {
	sharedConfig
	workerConfig
	authorityConfig
}

// Run is called by kong.
func (c *workerCommand) Run(r *run) error {
	return r.serve(c.sharedConfig, parts{worker: &c.workerConfig, authority: c.authorityConfig})
}

// serveCommand runs both in one process.
type serveCommand struct {
	sharedConfig
	httpConfig
	workerConfig
	authorityConfig
}

// Run is called by kong.
func (c *serveCommand) Run(r *run) error {
	return r.serve(c.sharedConfig, parts{http: &c.httpConfig, worker: &c.workerConfig, authority: c.authorityConfig})
}

// Validate is called by kong. It calls what the embedded structs would hide from
// each other.
func (c *apiCommand) Validate() error {
	return errors.Join(c.secretsConfig.Validate(), c.httpConfig.Validate())
}

// Validate is called by kong, as apiCommand.Validate is.
func (c *workerCommand) Validate() error {
	return errors.Join(c.secretsConfig.Validate(), c.workerConfig.Validate(), c.authorityConfig.Validate())
}

// Validate is called by kong, as apiCommand.Validate is.
func (c *serveCommand) Validate() error {
	return errors.Join(
		c.secretsConfig.Validate(), c.httpConfig.Validate(), c.workerConfig.Validate(), c.authorityConfig.Validate())
}

// parts says what a process runs.
type parts struct {
	http      *httpConfig   // nil: no API
	worker    *workerConfig // nil: no workers
	authority authorityConfig
}

// embedsRedis reports whether the process may use the Redis inside it.
func (p parts) embedsRedis() bool { return p.http != nil && p.worker != nil }

var errSecretsKeyMissing = errors.New("set SECRETS_KEY, which seals the secrets of webhooks in Redis;" +
	" \"openssl rand -base64 32\" makes one. Keep it apart from the backups of Redis")

var errPageURLMissing = errors.New("set PAGE_URL, the public address of the pages that PAGE=true serves," +
	" such as https://ushuru.example: without it whoever sends a request chooses the address in the links that it shows")

// usesSecrets reports whether the process creates webhooks or signs their events.
func (p parts) usesSecrets() bool {
	return p.http != nil || p.worker != nil && slices.Contains(p.worker.Roles, tasks.RoleAny)
}

// secrets returns the keys that seal secrets. In production a process that has to do with
// secrets needs one.
func (r *run) secrets(config secretsConfig, p parts) (*webhook.Ring, error) {
	ring, err := config.ring()
	if err != nil || ring.Seals() || !p.usesSecrets() {
		return ring, err
	}
	if r.common.production() {
		return nil, errSecretsKeyMissing
	}
	r.log.Warn("SECRETS_KEY is not set: the secrets of webhooks are stored in the clear")
	return ring, nil
}

// prepare checks what needs no connection, and returns the options that come of it.
func (r *run) prepare(shared sharedConfig, p parts) (app.Options, error) {
	if shared.AllowLoopback && r.common.production() {
		return app.Options{}, errors.New("ALLOW_LOOPBACK cannot be used in production:" +
			" callers could read services of this machine")
	}
	if p.http != nil && p.http.Page && p.http.PageURL == "" && r.common.production() {
		return app.Options{}, errPageURLMissing
	}
	costs, err := cost.Load(shared.CostTables)
	if err != nil {
		return app.Options{}, fmt.Errorf("COST_TABLES: %w", err)
	}
	hosts, err := scan.NewHosts(shared.SheetHosts...)
	if err != nil {
		return app.Options{}, fmt.Errorf("SHEET_HOSTS: %w", err)
	}
	ring, err := r.secrets(shared.secretsConfig, p)
	if err != nil {
		return app.Options{}, err
	}
	if shared.RedisURL == "" && (!p.embedsRedis() || r.common.production()) {
		return app.Options{}, errNoRedis
	}
	traces, err := shared.traceConfig.options()
	if err != nil {
		return app.Options{}, err
	}
	worker, err := p.workerOptions()
	return app.Options{
		Log: r.log, Secrets: ring, Costs: costs, Sheets: hosts,
		AllowLoopback: shared.AllowLoopback, AllowVolatile: shared.AllowVolatile, KeyAITokens: shared.KeyAITokens,
		Admin: shared.adminConfig.options(p), Traces: traces, Worker: worker,
	}, err
}

// workerOptions returns the options of the workers, whose client of TRA can be made of its
// settings; nil without workers.
func (p parts) workerOptions() (*app.WorkerOptions, error) {
	if p.worker == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	client, err := tra.NewClient(p.authority.options())
	if err != nil {
		return nil, err
	}
	client.Close()
	return p.worker.options(p.authority)
}

// connectServing connects a process that serves. In production it refuses a Redis that
// loses jobs: when its memory is full, or when it is started again.
func (r *run) connectServing(shared sharedConfig, p parts) (*redisx.Conn, error) {
	conn, err := r.connect(shared.Redis, p.embedsRedis(), true)
	if err != nil {
		return nil, err
	}
	users := conn.CheckDefaultUser(r.ctx)
	if !r.common.production() {
		if users != nil {
			r.log.Warn(users.Error())
		}
		return conn, nil
	}
	if errors.Is(users, redisx.ErrDefaultUser) {
		return nil, users
	}
	memory, err := redisx.ReadMemory(r.ctx, conn.Client())
	if err == nil && memory.Evicts() {
		return nil, fmt.Errorf("maxmemory-policy of Redis is %s, which deletes jobs and keys when its memory is full:"+
			" set noeviction", memory.Policy)
	}
	if !shared.AllowVolatile && memory.Volatile {
		return nil, errors.New("appendonly of Redis is off: a restart of Redis loses jobs, batches and keys that were accepted" +
			" since its last snapshot: set appendonly yes;" +
			" ALLOW_VOLATILE=true permits it")
	}
	return conn, nil // a server that hides its settings, or cannot be read now, is warned about
}

// sayCapacity logs how many keys that keep as much as they may the memory of Redis holds:
// what an account counts takes up to a third more there.
func (r *run) sayCapacity(conn *redisx.Conn, ofKey console.Size) {
	memory, err := redisx.ReadMemory(r.ctx, conn.Client())
	if err != nil || memory.Limit == 0 || ofKey == 0 {
		return // what Redis may use is not known, or what a key may
	}
	limit, needed := console.Size(memory.Limit), ofKey/3*4
	if limit < needed {
		r.log.Warn("maxmemory of Redis does not hold one API key that keeps as much as KEY_BYTES allows, so that lists which"+
			" were accepted can be stopped by a full Redis: raise maxmemory to the size needed, or lower KEY_BYTES",
			"maxmemory", limit.String(), "needed", needed.String(), "KEY_BYTES", ofKey.String())
		return
	}
	r.log.Info("maxmemory of Redis holds API keys that keep as much as KEY_BYTES allows",
		"keys", int64(limit/needed), "maxmemory", limit.String(), "KEY_BYTES", ofKey.String())
}

// serve runs the API, the workers or both until the signal to stop.
// A process with both may use the Redis inside it.
func (r *run) serve(shared sharedConfig, p parts) error {
	options, err := r.prepare(shared, p)
	if err != nil {
		return console.ExitError{Status: fail(r.Streams, console.ExitUsage, err)}
	}
	for _, sentence := range r.unknown {
		r.log.Warn(sentence)
	}
	if options.Redis, err = r.connectServing(shared, p); err != nil {
		return err
	}
	if shared.AllowLoopback {
		r.log.Warn("ALLOW_LOOPBACK is set: callers can read pages of this machine")
	}
	options.Version = shortVersion()
	_, options.Commit, _ = Build()
	if p.http != nil {
		r.sayCapacity(options.Redis, p.http.KeyBytes)
		if options.API, err = p.http.options(r.ctx); err != nil {
			return err
		}
	}
	service, err := app.New(options)
	if err != nil {
		return err
	}
	return r.runService(service)
}

// runService runs a process until the signal to stop, and notifies systemd.
func (r *run) runService(service *app.App) error {
	watched, unwatch := context.WithCancel(context.WithoutCancel(r.ctx))
	r.cleanup.Add(unwatch) // last of all: stopping takes time
	r.cleanup.Add(service.Stop)
	if err := service.Start(r.ctx); err != nil {
		return err
	}
	r.notifySystemd(daemon.SdNotifyReady)
	go r.feedWatchdog(watched)
	err := service.Wait(r.ctx)
	r.notifySystemd(daemon.SdNotifyStopping)
	return err
}

// notifySystemd sends systemd the state of the process. Nothing depends on its being heard.
func (r *run) notifySystemd(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		r.log.Warn("systemd was not notified", "state", state, "error", err)
	}
}

// feedWatchdog tells systemd that the process is alive, twice in the time that it gives, until
// ctx ends. It returns at once when systemd does not watch this process.
func (r *run) feedWatchdog(ctx context.Context) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval <= 0 {
		return
	}
	ticker := time.NewTicker(interval / 2) //nolint:mnd // a half
	defer ticker.Stop()
	for {
		_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog) // systemd notices when it hears nothing
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
