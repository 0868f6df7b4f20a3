package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/request"
	"ushuru/pkg/localtime"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
)

const (
	// tokenLength is that of the tokens of crypto/rand: 26 letters, 130 bits.
	tokenLength = 26
	// linkTTL is how long the address of an answer works.
	linkTTL = 30 * 24 * time.Hour
	// maxLinks is how many addresses are kept. The oldest are removed.
	maxLinks = 200_000

	// sameTTL is how long a request finds its token again. The day is part of the key.
	sameTTL = 24 * time.Hour

	keyLinks = "page:links" // tokens by the time at which they were made
)

func keyLink(token string) string { return "page:link:" + token }

// link is what the address of an answer leads to: a request, the job that works on it,
// and what was shown at the end.
type link struct {
	Path string          // of the endpoint: /v1/estimate
	Body json.RawMessage // of the request
	Job  string          // address of the job; "" when the result was cached
	Made time.Time
	// Shown is the result or the error that ended it; nil until then. It is written once.
	Shown *shown
}

// shown is how a request ended.
type shown struct {
	Result json.RawMessage `json:"result,omitempty"`
	Failed json.RawMessage `json:"failed,omitempty"` // an error of the API
}

// links are the addresses of answers, in Redis.
//
//	page:link:<token>   hash: path, body, job, made, shown (packed)
//	page:links          sorted set of the tokens by the time at which they were made
//	page:same:<hash>    token of a request, for a day
type links struct{ redis redis.UniversalClient }

// keySame is where the token of a request is found again during a day.
func keySame(path string, body []byte, now time.Time) string {
	sum := sha256.Sum256([]byte(path + "\n" + now.In(localtime.Zone).Format(time.DateOnly) + "\n" + string(body)))
	return "page:same:" + hex.EncodeToString(sum[:])
}

// same returns the token of the same request earlier on this day, so that a request that
// is sent twice takes no more room; "" when there was none.
func (l links) same(parent context.Context, path string, body []byte) (token string, err error) {
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	token, err = l.redis.Get(ctx, keySame(path, body, time.Now())).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", request.ErrUnavailable.WithCause(err)
	}
	return token, nil
}

// claim returns a new token for a request, or the one that it has today.
func (l links) claim(parent context.Context, path string, body []byte) (token string, err error) {
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	key := keySame(path, body, time.Now())
	pipe := l.redis.Pipeline()
	pipe.SetNX(ctx, key, rand.Text(), sameTTL)
	found := pipe.Get(ctx, key)
	if _, err := pipe.Exec(ctx); err != nil {
		return "", request.ErrUnavailable.WithCause(err)
	}
	return found.Val(), nil
}

// put stores a link under its token.
func (l links) put(parent context.Context, token string, made link) error {
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	fields := []any{
		"path", made.Path, "body", redisx.Pack(made.Body), "job", made.Job,
		"made", strconv.FormatInt(made.Made.Unix(), 10),
	}
	if made.Shown != nil {
		data, err := plainjson.Encode(made.Shown)
		if err != nil {
			return err
		}
		fields = append(fields, "shown", redisx.Pack(data))
	}
	pipe := l.redis.Pipeline()
	pipe.Del(ctx, keyLink(token))
	pipe.HSet(ctx, keyLink(token), fields...)
	pipe.Expire(ctx, keyLink(token), linkTTL)
	pipe.ZAdd(ctx, keyLinks, redis.Z{Score: float64(made.Made.Unix()), Member: token})
	pipe.Expire(ctx, keyLinks, linkTTL)
	old := pipe.ZRange(ctx, keyLinks, 0, -maxLinks-1)
	pipe.ZRemRangeByScore(ctx, keyLinks, "-inf", strconv.FormatInt(time.Now().Add(-linkTTL).Unix(), 10))
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("web: store link: %w", err)
	}
	return l.remove(ctx, old.Val())
}

// remove removes links beyond the greatest number.
func (l links) remove(ctx context.Context, tokens []string) error {
	if len(tokens) == 0 {
		return nil
	}
	pipe := l.redis.Pipeline()
	for _, token := range tokens {
		pipe.Unlink(ctx, keyLink(token))
		pipe.ZRem(ctx, keyLinks, token)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("web: remove links: %w", err)
	}
	return nil
}

// show writes how a link ended, unless that is known.
func (l links) show(parent context.Context, token string, made time.Time, end shown) error {
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	data, err := plainjson.Encode(end)
	if err != nil {
		return err
	}
	pipe := l.redis.Pipeline()
	pipe.HSetNX(ctx, keyLink(token), "shown", redisx.Pack(data))
	pipe.ExpireAt(ctx, keyLink(token), made.Add(linkTTL)) // it may have expired just now
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("web: store what was shown: %w", err)
	}
	return nil
}

// find returns a link; errUnknown when the token leads nowhere.
func (l links) find(parent context.Context, token string) (*link, error) {
	ctx, cancel := context.WithTimeout(parent, request.RedisTimeout)
	defer cancel()
	fields, err := l.redis.HGetAll(ctx, keyLink(token)).Result()
	if err != nil {
		return nil, request.ErrUnavailable.WithCause(err)
	}
	if fields["path"] == "" {
		return nil, errUnknown
	}
	made, err := strconv.ParseInt(fields["made"], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("web: time of a link: %w", err)
	}
	found := &link{Path: fields["path"], Job: fields["job"], Made: time.Unix(made, 0)}
	if found.Body, err = redisx.Unpack([]byte(fields["body"])); err != nil {
		return nil, err
	}
	if fields["shown"] == "" {
		return found, nil
	}
	data, err := redisx.Unpack([]byte(fields["shown"]))
	if err != nil {
		return nil, err
	}
	found.Shown = &shown{}
	if err := json.Unmarshal(data, found.Shown); err != nil {
		return nil, fmt.Errorf("web: what a link has shown: %w", err)
	}
	return found, nil
}
