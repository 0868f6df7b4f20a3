package fetch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// byOperator is the value of a pause that an operator has set. A pause that a site asks for has
// another value and never shortens that of the operator.
const byOperator = "operator"

// Pause is a time in which no page of a host is requested.
type Pause struct {
	Host       string    `json:"host"`
	Until      time.Time `json:"until"`
	ByOperator bool      `json:"byOperator"` // else the site has asked for it
}

// Pauses returns the pauses of all hosts, by host. It reads the names of all keys.
func Pauses(ctx context.Context, client redis.UniversalClient) (pauses []Pause, err error) {
	prefix, suffix, _ := strings.Cut(keyPause("*"), "*")
	err = redisx.Scan(ctx, client, keyPause("*"), func(keys []string) error {
		for _, key := range keys {
			left, err := client.PTTL(ctx, key).Result()
			if err != nil {
				return limiterUnavailable(err)
			}
			by, err := client.Get(ctx, key).Result()
			if err != nil || left <= 0 {
				continue // it has just ended
			}
			pauses = append(pauses, Pause{
				Host:  strings.TrimSuffix(strings.TrimPrefix(key, prefix), suffix),
				Until: time.Now().Add(left).UTC().Truncate(time.Second), ByOperator: by == byOperator,
			})
		}
		return nil
	})
	slices.SortFunc(pauses, func(a, b Pause) int { return cmp.Compare(a.Host, b.Host) })
	return slices.CompactFunc(pauses, func(a, b Pause) bool { return a.Host == b.Host }), err
}

// PauseHosts has no process request pages of hosts for a time, instead of any pause that is
// in force.
func PauseHosts(ctx context.Context, client redis.UniversalClient, hosts []string, pause time.Duration) error {
	for _, host := range hosts {
		if err := client.Set(ctx, keyPause(host), byOperator, pause).Err(); err != nil {
			return fmt.Errorf("fetch: pause %s: %w", host, err)
		}
	}
	return nil
}

// ResumeHosts ends the pauses of hosts and returns how many there were.
func ResumeHosts(ctx context.Context, client redis.UniversalClient, hosts []string) (ended int, err error) {
	for _, host := range hosts {
		n, err := client.Del(ctx, keyPause(host)).Result()
		if err != nil {
			return ended, fmt.Errorf("fetch: resume %s: %w", host, err)
		}
		ended += int(n)
	}
	return ended, nil
}
