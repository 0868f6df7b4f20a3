package cli

import (
	"errors"

	"ushuru/tasks"
)

// apiCommand runs the API.
type apiCommand struct {
	redisConfig
	httpConfig
	costConfig
	sheetConfig
}

// Run is called by kong.
func (c *apiCommand) Run(r *run) error {
	defer r.close()
	if err := errors.Join(r.loadCosts(c.costConfig), r.loadSheets(c.sheetConfig)); err != nil {
		return err
	}
	conn, err := r.redis(c.redisConfig, false)
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
	redisConfig
	workerConfig
	authorityConfig
	costConfig
	sheetConfig
}

// Run is called by kong.
func (c *workerCommand) Run(r *run) error {
	defer r.close()
	if err := errors.Join(r.loadCosts(c.costConfig), r.loadSheets(c.sheetConfig)); err != nil {
		return err
	}
	conn, err := r.redis(c.redisConfig, false)
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
	redisConfig
	httpConfig
	workerConfig
	authorityConfig
	costConfig
	sheetConfig
}

// Run is called by kong.
func (c *serveCommand) Run(r *run) error {
	defer r.close()
	if err := errors.Join(r.loadCosts(c.costConfig), r.loadSheets(c.sheetConfig)); err != nil {
		return err
	}
	conn, err := r.redis(c.redisConfig, true)
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
