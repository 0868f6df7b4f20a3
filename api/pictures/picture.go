// Package pictures has pictures of cars for the pages: cached ones, and others that the
// workers fetch within the limits of all visitors.
package pictures

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/api/web"
	"ushuru/pkg/cache"
	"ushuru/pkg/fair"
	"ushuru/pkg/jobs"
	"ushuru/pkg/quota"
	"ushuru/tasks"
)

const (
	// pictureWait is how long a visitor waits for a picture.
	pictureWait = 8 * time.Second
	// picturePause is the pause before a look whether there is room for one more.
	picturePause = 250 * time.Millisecond
	// picturesPart is the part of the jobs of all visitors that may fetch pictures: the
	// others are for their estimates.
	picturesPart = 4

	ownerPictures = fair.Anonymous + ":pictures" // their limits are counted apart
)

var errPictureLater = problem.New(http.StatusServiceUnavailable, "unavailable", nil).After(respond.PollAfter)

// Options are the parts and settings of Pictures.
type Options struct {
	Tasks   *tasks.Engine
	Jobs    *jobs.Store
	Cache   *cache.Cache
	Limiter *quota.Limiter
	Work    *await.Work
	MaxJobs int // running jobs of all visitors
	Rate    int // pictures per minute of all visitors
}

// Pictures are the pictures of one API process.
type Pictures struct{ options Options }

// New returns the pictures of one API process.
func New(options Options) *Pictures { return &Pictures{options} }

// Get returns a picture of a car for a page. The workers fetch it: this process calls
// no site.
func (p *Pictures) Get(parent context.Context, address string, admit func(context.Context) error) ([]byte, error) {
	cached, err := p.cachedPicture(parent, address)
	if !errors.Is(err, cache.ErrMiss) {
		return cached, err
	}
	if err := admit(parent); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(parent, pictureWait)
	defer cancel()
	if err := p.admitPicture(ctx); err != nil {
		return nil, err
	}
	submit, stop := context.WithTimeout(ctx, respond.RedisTimeout)
	defer stop()
	job, err := p.options.Tasks.Submit(submit, tasks.KindPicture, tasks.PictureInput{URL: address},
		tasks.Requester{Owner: fair.Anonymous, Class: jobs.Interactive})
	if err == nil {
		err = p.options.Limiter.Track(submit, ownerPictures, job.ID)
	}
	if err != nil {
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	if job, err = p.options.Work.Wait(ctx, job.ID, pictureWait); err != nil {
		return nil, err
	}
	if job.State != jobs.Succeeded {
		return nil, errPictureLater
	}
	cached, err = p.cachedPicture(parent, address)
	if errors.Is(err, cache.ErrMiss) {
		return nil, errPictureLater
	}
	return cached, err
}

// cachedPicture returns the picture that is cached for an address; ErrMiss when nothing is
// known of it.
func (p *Pictures) cachedPicture(parent context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	cached, err := p.options.Cache.Picture(ctx, address)
	switch {
	case errors.Is(err, cache.ErrMiss):
		return nil, err
	case err != nil:
		return nil, respond.ErrUnavailable.WithCause(err)
	case len(cached) == 0:
		return nil, web.ErrNoPicture
	}
	return cached, nil
}

// admitPicture counts a picture that must be fetched against the limits of all visitors,
// and waits until there is room for it.
func (p *Pictures) admitPicture(ctx context.Context) error {
	allowance, err := p.options.Limiter.Allow(ctx, ownerPictures, p.options.Rate)
	switch {
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	case !allowance.Allowed:
		return errPictureLater.After(max(respond.WholeSeconds(allowance.RetryAfter), time.Second))
	}
	most := max(p.options.MaxJobs/picturesPart, 1)
	for {
		free, err := p.options.Limiter.HasCapacity(ctx, ownerPictures, most, p.options.Jobs.ListEnded)
		switch {
		case ctx.Err() != nil:
			return errPictureLater
		case err != nil:
			return respond.ErrUnavailable.WithCause(err)
		case free:
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(picturePause):
		}
	}
}
