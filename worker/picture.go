package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"ushuru/pkg/cache"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/picture"
	"ushuru/tasks"
)

// pictures fetches pictures of cars for the pages.
type pictures struct {
	client *fetch.Client
	cache  *cache.Cache
	small  *picture.Shrinker
}

func newPictures(o Options) *pictures { return &pictures{o.Fetch, o.Cache, picture.NewShrinker()} }

// pictureTypes are those that can be decoded.
const pictureTypes = "image/jpeg,image/png,image/webp,image/gif"

// fetch fetches the picture of a job, and caches it small. What can never be shown is
// cached too, as none, so that it is not fetched for each visitor.
func (p *pictures) fetch(ctx context.Context, job *jobs.Job) (any, error) {
	var input tasks.PictureInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return nil, fmt.Errorf("worker: input: %w", err)
	}
	made, err := p.get(ctx, input.URL)
	failure, isFailure := errors.AsType[*fetch.Error](err)
	switch {
	case isFailure && failure.Retryable:
		return nil, pageFailure(failure, job, "")
	case isFailure, errors.Is(err, picture.ErrUnusable):
		made = nil
	case err != nil:
		return nil, err
	}
	_, err = persist(ctx, 0, outageTimeout, func(ctx context.Context) error {
		return p.cache.PutPicture(ctx, input.URL, made)
	})
	return struct{}{}, err
}

// get fetches a picture and makes it small. Redirects may not lead to another host.
func (p *pictures) get(ctx context.Context, address string) ([]byte, error) {
	host := ""
	page, err := p.client.Fetch(ctx, fetch.Request{
		URL: address, MaxBody: picture.MaxBytes, Accept: pictureTypes,
		Allow: func(u *url.URL) error {
			if host != "" && u.Host != host {
				return &fetch.Error{Notice: message.New("error/url_forbidden.not_public", nil)}
			}
			host = u.Host
			return nil
		},
	})
	if err == nil {
		err = page.Err()
	}
	if err != nil {
		return nil, err
	}
	return p.small.Small(ctx, page.Body)
}
