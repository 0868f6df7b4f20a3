// Package links keeps what the addresses of the pages of answers lead to.
package links

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
)

// ttl is how long the address of an answer works.
const ttl = 30 * 24 * time.Hour

// Room is how many bytes of links are kept, and how many of those of one network.
type Room struct{ All, OfNetwork int64 }

// DefaultRoom has room for some 60,000 answers, and for a thousand of one network.
var DefaultRoom = Room{All: 256 << 20, OfNetwork: 4 << 20}

// Key returns the key of a link in Redis.
func Key(token string) string { return "page:link:" + token }

// Link is what the address of an answer leads to: a request, the job that works on it,
// and what was shown at the end. The terms of the answer, such as a price that the visitor
// gave, stand in the address and are not kept.
type Link struct {
	Path   string     // of the endpoint: /v1/estimate
	Fields url.Values // of the form that asks it
	Job    string     // address of the job; "" when the result was cached
	Made   time.Time
	// Shown is the result or the error that ended it; nil until then. It is written once.
	Shown   *Shown
	Network string // whose visitor has made it, as a hash
}

// Shown is how a request ended.
type Shown struct {
	Result json.RawMessage `json:"result,omitempty"`
	Failed json.RawMessage `json:"failed,omitempty"` // an error of the API
}

// ErrUnknown means that a token leads nowhere, or no longer.
var ErrUnknown = problem.Because(http.StatusNotFound, message.New("page/unknown", nil), nil)

// Store has the addresses of answers, in Redis. The visitors of a network have one of a
// request and day. When there are too many, the oldest go of the network that holds the most
// bytes: a network can push out what its own visitors have made, and nothing of others.
//
//	page:link:<token>       hash: path, fields (packed), job, made, network, shown (packed)
//	page:{links}            sorted set of the networks by the bytes of their links
//	page:{links}:bytes      the sum of these
//	page:{links}:<network>  hash: bytes of each link and the time at which it was made, by token
type Store struct {
	Redis redis.UniversalClient
	Room  Room
}

// KeyAccount is the key of the account of all links.
const KeyAccount = "page:{links}"

// scriptKeep accounts for the bytes of a link, and returns the tokens of those for which there is
// no more room. ARGV: network, token, bytes, milliseconds for which links are kept, the most bytes
// of the network and of all, and 1 for a link that must be there already. The reply begins with
// whether the link is kept. An owner whose links have all expired is found by chance.
var scriptKeep = redis.NewScript(redisx.LuaClock + `
local networks, sum = KEYS[1], KEYS[2]
local network, token, size, ttl = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local evicted = {1}
local function trim(owner, most)
  local kept, links, used = redis.call('HGETALL', networks .. ':' .. owner), {}, 0
  for i = 1, #kept, 2 do
    local bytes, made = string.match(kept[i + 1], '^(%d+) (%d+)$')
    bytes, made = tonumber(bytes), tonumber(made)
    if made + ttl <= now then
      redis.call('HDEL', networks .. ':' .. owner, kept[i])
    else
      used = used + bytes
      links[#links + 1] = {kept[i], bytes, made}
    end
  end
  if used > most then
    table.sort(links, function(a, b) return a[3] < b[3] end)
    for _, link in ipairs(links) do
      if used <= most then break end
      if link[1] ~= token then
        redis.call('HDEL', networks .. ':' .. owner, link[1])
        used = used - link[2]
        evicted[#evicted + 1] = link[1]
      end
    end
  end
  local before = tonumber(redis.call('ZSCORE', networks, owner) or 0)
  redis.call('INCRBY', sum, used - before)
  if used > 0 then redis.call('ZADD', networks, used, owner) else redis.call('ZREM', networks, owner) end
end
local made = now
local old = redis.call('HGET', networks .. ':' .. network, token)
if ARGV[7] == '1' then
  if not old then return {0} end
  made = tonumber(string.match(old, ' (%d+)$'))
end
redis.call('HSET', networks .. ':' .. network, token, size .. ' ' .. string.format('%.0f', made))
redis.call('PEXPIRE', networks .. ':' .. network, ttl)
trim(network, tonumber(ARGV[5]))
trim(redis.call('ZRANDMEMBER', networks), tonumber(ARGV[5]))
for _ = 1, 100 do
  local over = tonumber(redis.call('GET', sum)) - tonumber(ARGV[6])
  if over <= 0 then break end
  local largest = redis.call('ZRANGE', networks, -1, -1, 'WITHSCORES')
  trim(largest[1], math.max(tonumber(largest[2]) - over, 0))
end
return evicted
`)

// keep accounts for a link of a network, and removes others for which there is no more room. It
// reports whether the link is kept: one that must be there already may have been removed.
func (l Store) keep(ctx context.Context, network, token string, size int, already bool) (bool, error) {
	must := 0
	if already {
		must = 1
	}
	reply, err := scriptKeep.Run(ctx, l.Redis, []string{KeyAccount, KeyAccount + ":bytes"}, network, token, size,
		ttl.Milliseconds(), l.Room.OfNetwork, l.Room.All, must).Slice()
	if err != nil || len(reply) == 0 {
		return false, fmt.Errorf("links: account for a link: %w", err)
	}
	if reply[0] != int64(1) {
		return false, nil
	}
	pipe := l.Redis.Pipeline()
	for _, evicted := range reply[1:] {
		pipe.Unlink(ctx, Key(fmt.Sprint(evicted)))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return false, fmt.Errorf("links: remove links: %w", err)
	}
	return true, nil
}

// stored is a link as Redis has it.
type stored struct {
	Path    string `redis:"path"`
	Fields  string `redis:"fields"` // packed
	Job     string `redis:"job"`
	Made    int64  `redis:"made"`
	Network string `redis:"network"`
	Shown   string `redis:"shown,omitempty"` // packed
}

// store returns how Redis has a link, and the bytes that it takes there with its account.
func store(l *Link) (s stored, size int, err error) {
	s = stored{l.Path, string(redisx.Pack([]byte(l.Fields.Encode()))), l.Job, l.Made.Unix(), l.Network, ""}
	if l.Shown != nil {
		data, err := plainjson.Encode(l.Shown)
		if err != nil {
			return s, 0, err
		}
		s.Shown = string(redisx.Pack(data))
	}
	return s, len(s.Path) + len(s.Fields) + len(s.Job) + len(s.Network) + len(s.Shown) + 2*pace.EntryOverhead, nil
}

// Put stores a link under its token.
func (l Store) Put(ctx context.Context, token string, made Link) error {
	return l.write(ctx, token, made, false)
}

// Show writes how a link ended, unless that is known.
func (l Store) Show(ctx context.Context, token string, of Link, end Shown) error {
	of.Shown = &end
	return l.write(ctx, token, of, true)
}

// write stores a link, or how one that is there already ended. Another may have taken its room.
func (l Store) write(ctx context.Context, token string, of Link, already bool) error {
	s, size, err := store(&of)
	if err != nil {
		return err
	}
	if kept, err := l.keep(ctx, of.Network, token, size, already); !kept {
		return err
	}
	pipe := l.Redis.Pipeline()
	if already {
		pipe.HSetNX(ctx, Key(token), "shown", s.Shown)
	} else {
		pipe.Del(ctx, Key(token))
		pipe.HSet(ctx, Key(token), s)
	}
	pipe.ExpireAt(ctx, Key(token), of.Made.Add(ttl)) // it may have expired just now
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("links: store link: %w", err)
	}
	return nil
}

// Find returns a link; ErrUnknown when the token leads nowhere.
func (l Store) Find(ctx context.Context, token string) (*Link, error) {
	var s stored
	reply := l.Redis.HGetAll(ctx, Key(token))
	switch {
	case reply.Err() != nil:
		return nil, request.ErrUnavailable.WithCause(reply.Err())
	case reply.Val()["path"] == "":
		return nil, ErrUnknown
	}
	err := reply.Scan(&s)
	found := &Link{Path: s.Path, Job: s.Job, Made: time.Unix(s.Made, 0), Network: s.Network}
	var fields, shown []byte
	if err == nil {
		fields, err = redisx.Unpack([]byte(s.Fields))
	}
	if err == nil {
		found.Fields, err = url.ParseQuery(string(fields))
	}
	if err == nil && s.Shown != "" {
		if shown, err = redisx.Unpack([]byte(s.Shown)); err == nil {
			err = json.Unmarshal(shown, &found.Shown)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("links: a link: %w", err)
	}
	return found, nil
}
