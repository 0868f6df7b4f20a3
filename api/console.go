package api

import (
	"ushuru/api/console"
	"ushuru/api/monitoring"
	"ushuru/api/respond"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
)

// registerConsole adds the operator's pages to the router. Guesses at the password are
// counted together with those at /monitoring.
func (s *Server) registerConsole() error {
	o := s.options
	pages, err := console.New(console.Options{
		Redis: o.Redis, Status: status.New(status.Options{Redis: o.Redis, Limits: o.Limits}),
		Operate: operate.New(operate.Options{Redis: o.Redis, Log: o.Log, AllowLoopback: o.AllowLoopback}),
		Login:   s.ui.CheckPassword, User: o.MonitoringUser, Password: o.MonitoringPassword,
		Monitoring: monitoring.Path, Simulated: o.Simulated, Log: o.Log,
	})
	if err != nil {
		return err
	}
	pages.Register(s.router)
	s.router.MethodNotAllowedHandler = respond.ProblemHandler(respond.ErrMethodNotAllowed)
	return nil
}
