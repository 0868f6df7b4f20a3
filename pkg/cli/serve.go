package cli

import (
	"errors"

	"ushuru/pkg/redisx"
	"ushuru/tasks"
)

// sharedConfig is what the API and the workers must have alike.
type sharedConfig struct {
	redisConfig
	costConfig
	sheetConfig
}

// shared connects to Redis and loads what the API and the workers both reckon
// with; embedded permits the Redis inside the process.
func (r *run) shared(config sharedConfig, embedded bool) (*redisx.Conn, error) {
	if err := errors.Join(r.loadCosts(config.costConfig), r.loadSheets(config.sheetConfig)); err != nil {
		return nil, err
	}
	return r.redis(config.redisConfig, embedded)
}

// apiCommand runs the API.
type apiCommand struct {
	sharedConfig
	httpConfig
}

// Run is called by kong.
func (c *apiCommand) Run(r *run) error {
	defer r.close()
	conn, err := r.shared(c.sharedConfig, false)
	if err != nil {
		return err
	}
	listener, err := r.listen(c.Listen)
	if err != nil {
		return err
	}
	if err := r.startAPI(c.httpConfig, listener, conn, demoParts{}); err != nil {
		return err
	}
	return r.untilStopped()
}

// workerCommand runs the workers.
type workerCommand struct {
	sharedConfig
	workerConfig
	authorityConfig
}

// Run is called by kong.
func (c *workerCommand) Run(r *run) error {
	defer r.close()
	conn, err := r.shared(c.sharedConfig, false)
	if err != nil {
		return err
	}
	if err := r.startWorker(c.workerConfig, c.authorityConfig, conn, demoParts{}); err != nil {
		return err
	}
	return r.untilStopped()
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
	defer r.close()
	conn, err := r.shared(c.sharedConfig, true)
	if err != nil {
		return err
	}
	listener, err := r.listen(c.Listen)
	if err != nil {
		return err
	}
	if err := r.startWorker(c.workerConfig, c.authorityConfig, conn, demoParts{}); err != nil {
		return err
	}
	if err := r.startAPI(c.httpConfig, listener, conn, demoParts{}); err != nil {
		return err
	}
	return r.untilStopped()
}

var allRoles = tasks.Roles
