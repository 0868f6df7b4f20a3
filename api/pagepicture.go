package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ushuru/api/problem"
	"ushuru/api/respond"
	"ushuru/api/web"
	"ushuru/pkg/cache"
	"ushuru/pkg/fair"
	"ushuru/pkg/jobs"
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

// picture returns a picture of a car for a page. The workers fetch it: this process calls
// no site.
func (s *Server) picture(parent context.Context, address string, admit func(context.Context) error) ([]byte, error) {
	cached, err := s.cachedPicture(parent, address)
	if !errors.Is(err, cache.ErrMiss) {
		return cached, err
	}
	if err := admit(parent); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(parent, pictureWait)
	defer cancel()
	if err := s.admitPicture(ctx); err != nil {
		return nil, err
	}
	submit, stop := context.WithTimeout(ctx, respond.RedisTimeout)
	defer stop()
	job, err := s.options.Tasks.Submit(submit, tasks.KindPicture, tasks.PictureInput{URL: address},
		tasks.Requester{Owner: fair.Anonymous, Class: jobs.Interactive})
	if err == nil {
		err = s.options.Limiter.Track(submit, ownerPictures, job.ID)
	}
	if err != nil {
		return nil, respond.ErrUnavailable.WithCause(err)
	}
	if job, err = s.work.Wait(ctx, job.ID, pictureWait); err != nil {
		return nil, err
	}
	if job.State != jobs.Succeeded {
		return nil, errPictureLater
	}
	cached, err = s.cachedPicture(parent, address)
	if errors.Is(err, cache.ErrMiss) {
		return nil, errPictureLater
	}
	return cached, err
}

// cachedPicture returns the picture that is cached for an address; ErrMiss when nothing is
// known of it.
func (s *Server) cachedPicture(parent context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, respond.RedisTimeout)
	defer cancel()
	cached, err := s.options.Cache.Picture(ctx, address)
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
func (s *Server) admitPicture(ctx context.Context) error {
	allowance, err := s.options.Limiter.Allow(ctx, ownerPictures, s.options.Page.Rate)
	switch {
	case err != nil:
		return respond.ErrUnavailable.WithCause(err)
	case !allowance.Allowed:
		late := *errPictureLater
		return late.After(max(respond.WholeSeconds(allowance.RetryAfter), time.Second))
	}
	most := max(s.options.Page.Jobs/picturesPart, 1)
	for {
		free, err := s.options.Limiter.HasCapacity(ctx, ownerPictures, most, s.options.Jobs.ListEnded)
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
