package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/sites"
)

// ErrNoSite means that a text is neither the name of a known site nor a host.
var ErrNoSite = errors.New("operate: neither the name of a known site nor a host")

// ErrNoQueue means that a text is not the name of a queue.
var ErrNoQueue = errors.New("operate: there is no such queue; ushuru status lists them")

// MaxPause bounds how long a site can be paused.
const MaxPause = 30 * 24 * time.Hour

// SitePauses returns the sites that are paused now: by an operator, or because they asked
// for it.
func (o *Operator) SitePauses(ctx context.Context) ([]fetch.Pause, error) {
	return fetch.Pauses(ctx, o.options.Redis)
}

// PauseSite has no worker request pages of a site for a time: of a host, or of all usual
// hosts of a known site. Jobs of people end with host_busy, rows of batches wait. It
// returns the hosts.
func (o *Operator) PauseSite(ctx context.Context, site string, pause time.Duration) ([]string, error) {
	return act(ctx, o, "sites pause", fmt.Sprintf("%s %v", site, pause), func() ([]string, error) {
		if pause <= 0 || pause > MaxPause {
			return nil, fmt.Errorf("operate: a pause must be between 1 s and %v", MaxPause)
		}
		hosts, err := hostsOf(site)
		if err != nil {
			return nil, err
		}
		return hosts, fetch.PauseHosts(ctx, o.options.Redis, hosts, pause)
	})
}

// ResumeSite ends the pauses of a site, also those that the site has asked for, and returns
// how many there were.
func (o *Operator) ResumeSite(ctx context.Context, site string) (int, error) {
	return act(ctx, o, "sites resume", site, func() (int, error) {
		hosts, err := hostsOf(site)
		if err != nil {
			return 0, err
		}
		return fetch.ResumeHosts(ctx, o.options.Redis, hosts)
	})
}

// hostsOf returns the hosts of a site that is given by its name, by a host of it, or by a
// URL.
func hostsOf(site string) ([]string, error) {
	host := strings.ToLower(strings.TrimSpace(site))
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host, _, _ = strings.Cut(rest, "/")
	}
	for _, known := range sites.All() {
		if strings.EqualFold(known.Name, site) || known.Name == sites.NameOf(host) {
			var hosts []string
			for _, own := range known.Hosts {
				hosts = append(hosts, own, "www."+own)
			}
			if strings.Contains(host, ".") && !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
			return hosts, nil
		}
	}
	if host == "" || !strings.ContainsAny(host, ".:") || strings.ContainsAny(host, "/{} \t\r\n") {
		return nil, ErrNoSite
	}
	return []string{host}, nil
}

// PauseQueue has no worker take tasks of a queue until it is resumed.
func (o *Operator) PauseQueue(ctx context.Context, queue string) error {
	return o.do(ctx, "queues pause", queue, func() error { return o.setPaused(queue, true) })
}

// ResumeQueue has workers take the tasks of a queue again.
func (o *Operator) ResumeQueue(ctx context.Context, queue string) error {
	return o.do(ctx, "queues resume", queue, func() error { return o.setPaused(queue, false) })
}

// setPaused does nothing when the queue is as it shall be: asynq has an error without a kind for
// that.
func (o *Operator) setPaused(queue string, paused bool) error {
	inspector := asynq.NewInspectorFromRedisClient(o.options.Redis)
	known, err := inspector.Queues()
	if err != nil {
		return err
	}
	if !slices.Contains(known, queue) {
		return ErrNoQueue
	}
	info, err := inspector.GetQueueInfo(queue)
	switch {
	case err != nil:
		return err
	case info.Paused == paused:
		return nil
	case paused:
		return inspector.PauseQueue(queue)
	}
	return inspector.UnpauseQueue(queue)
}
