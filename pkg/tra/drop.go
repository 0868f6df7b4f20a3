package tra

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// Tuple names calculations of the authority. Fields that are empty match any value.
type Tuple struct {
	Make, ModelBody         string
	YOM                     int
	Country, Fuel, Capacity string
}

// Matches reports whether a vehicle is one of the tuple.
func (t Tuple) Matches(v Tuple) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	return same(t.Make, v.Make) && same(t.ModelBody, v.ModelBody) && (t.YOM == 0 || t.YOM == v.YOM) &&
		same(t.Country, v.Country) && same(t.Fuel, v.Fuel) && same(t.Capacity, v.Capacity)
}

// DropCalculations deletes the cached calculations of the vehicles of a tuple and returns
// how many, so that the authority is asked again. It reads all cached answers: it is for an
// operator.
func (s *Store) DropCalculations(ctx context.Context, t Tuple) (dropped int, err error) {
	err = redisx.Scan(ctx, s.redis, keyAnswer+"*", func(keys []string) error {
		for _, key := range keys {
			value, err := s.redis.Get(ctx, key).Bytes()
			if errors.Is(err, redis.Nil) {
				continue
			}
			if err != nil {
				return err
			}
			answer, ok := decodeStored[json.RawMessage](value)
			q := answer.Question
			if !ok || q.Call != callDetails ||
				!t.Matches(Tuple{q.Make, q.ModelBody, q.YOM, q.Country, q.Fuel, q.Capacity}) {
				continue
			}
			n, err := s.redis.Del(ctx, key).Result()
			if err != nil {
				return err
			}
			dropped += int(n)
		}
		return nil
	})
	return dropped, failed(err, "drop calculations")
}
