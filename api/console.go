package api

import (
	"ushuru/api/console"
	"ushuru/api/monitoring"
	"ushuru/api/web/lots"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
)

// newConsole returns the operator's pages; nil without a password. Guesses at it are counted
// together with those at Asynqmon, which is made too.
func (s *Server) newConsole() (_ *console.Console, err error) {
	o := s.options
	if o.MonitoringPassword == "" {
		return nil, nil //nolint:nilnil // the console is off
	}
	if s.ui, err = monitoring.New(monitoring.Options{
		Redis: o.AsynqRedis, User: o.MonitoringUser, Password: o.MonitoringPassword,
		Writable: o.MonitoringWritable, Address: s.addressOf, Metrics: o.Metrics, Log: o.Log,
	}); err != nil {
		return nil, err
	}
	also := []string(nil)
	if o.Page.Enabled {
		also = []string{lots.Path}
	}
	return console.New(console.Options{
		Redis: o.Redis, Status: status.New(status.Options{Redis: o.Redis, Limits: o.Limits}),
		Operate: operate.New(operate.Options{Redis: o.Redis, Log: o.Log, AllowLoopback: o.AllowLoopback}),
		Login:   s.ui.CheckPassword, User: o.MonitoringUser, Password: o.MonitoringPassword,
		Also: also, Monitoring: monitoring.Path, Simulated: o.Simulated, Log: o.Log,
	})
}
