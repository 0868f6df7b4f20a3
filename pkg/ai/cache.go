package ai

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"
)

const keyAnswer = "ai:answer:" // and the hash of the question

// answers keeps valid answers in Redis.
type answers struct {
	redis redis.UniversalClient
	ttl   time.Duration
}

// kept is an answer in Redis. It is checked again when it is read: what wrote
// it may have been another version.
type cachedAnswer struct {
	Answer json.RawMessage `json:"answer"`
	Usage  Usage           `json:"usage"`
}

func (a *answers) disabled() bool { return a.redis == nil || a.ttl == 0 }

// get finds an answer. A Redis that fails is as good as an empty one.
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
