package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxPictures is how many pictures are cached. The oldest are removed.
	maxPictures = 2000
	// pictureTTL is how long a picture is cached, and noPictureTTL that there is none.
	pictureTTL   = 24 * time.Hour
	noPictureTTL = time.Hour

	keyPictures = "picture:index" // sorted set of the keys by the time at which they were cached
)

func keyPicture(address string) string {
	sum := sha256.Sum256([]byte(address))
	return "picture:" + hex.EncodeToString(sum[:])
}

// Picture returns the picture of an address, empty when it is known that there is none, or
// ErrMiss.
func (c *Cache) Picture(ctx context.Context, address string) ([]byte, error) {
	picture, err := c.redis.Get(ctx, keyPicture(address)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrMiss
	}
	if err != nil {
		return nil, fmt.Errorf("cache: picture: %w", err)
	}
	return picture, nil
}

// PutPicture caches the picture of an address; an empty one says that there is none.
func (c *Cache) PutPicture(ctx context.Context, address string, picture []byte) error {
	now, key, lifetime := time.Now(), keyPicture(address), pictureTTL
	if len(picture) == 0 {
		lifetime = noPictureTTL
	}
	var old *redis.StringSliceCmd
	_, err := c.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, key, picture, lifetime)
		pipe.ZAdd(ctx, keyPictures, redis.Z{Score: float64(now.UnixMilli()), Member: key})
		pipe.Expire(ctx, keyPictures, pictureTTL)
		pipe.ZRemRangeByScore(ctx, keyPictures, "-inf", strconv.FormatInt(now.Add(-pictureTTL).UnixMilli(), 10))
		old = pipe.ZRange(ctx, keyPictures, 0, -maxPictures-1)
		return nil
	})
	if err == nil && len(old.Val()) > 0 {
		_, err = c.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, key := range old.Val() {
				pipe.Unlink(ctx, key)
				pipe.ZRem(ctx, keyPictures, key)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("cache: put picture: %w", err)
	}
	return nil
}
