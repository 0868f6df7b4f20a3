package ai

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"
)

const keyAnswer = "ai:answer:" // and the hash of the question

// answers caches valid answers in Redis.
type answers struct {
	redis redis.UniversalClient
	ttl   time.Duration
}

// cachedAnswer is an answer in Redis. It is validated again when it is read,
// because another version of the program may have written it.
type cachedAnswer struct {
	Answer json.RawMessage `json:"answer"`
	Usage  Usage           `json:"usage"`
}

func (a *answers) disabled() bool { return a.redis == nil || a.ttl == 0 }

// get returns a cached answer. It treats an error of Redis as a miss.
func (a *answers) get(ctx context.Context, hash string) (cachedAnswer, bool) {
	var k cachedAnswer
	if a.disabled() {
		return k, false
	}
	value, err := a.redis.Get(ctx, keyAnswer+hash).Bytes()
	return k, err == nil && json.Unmarshal(value, &k) == nil
}

func (a *answers) put(ctx context.Context, hash string, k cachedAnswer) error {
	if a.disabled() {
		return nil
	}
	value, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return a.redis.Set(ctx, keyAnswer+hash, value, a.ttl).Err()
}
