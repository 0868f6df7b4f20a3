package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/fetch"
)

// pageCache keeps what was read of pages whose site can say that a page has not
// changed, so that the site need not send it again: when an estimate failed
// after the page was read, or has expired. Not the page is kept but what was
// read of it; and by one version of the program for itself only, because
// another may read better.
type pageCache struct{ redis redis.UniversalClient }

const pageTTL = 14 * 24 * time.Hour

// cachedPage is what is kept of one page; empty when nothing is.
type cachedPage struct {
	Validators fetch.Validators `json:"validators"`
	Reading    reading          `json:"reading"`
}

func (*pageCache) key(url string) string {
	sum := sha256.Sum256([]byte(programVersion + "\n" + url))
	return "read:" + hex.EncodeToString(sum[:])
}

// programVersion names the version of the program.
var programVersion = func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	named := []string{info.Main.Version}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" || setting.Key == "vcs.modified" {
			named = append(named, setting.Value)
		}
	}
	return strings.Join(named, " ")
}()

// get returns what is kept of a page.
func (m *pageCache) get(ctx context.Context, url string) (cachedPage, error) {
	data, err := m.redis.Get(ctx, m.key(url)).Bytes()
	if errors.Is(err, redis.Nil) {
		return cachedPage{}, nil
	}
	if err != nil {
		return cachedPage{}, fmt.Errorf("worker: what was read before: %w", err)
	}
	var known cachedPage
	if err := json.Unmarshal(data, &known); err != nil {
		return cachedPage{}, nil //nolint:nilerr // it is read anew
	}
	return known, nil
}

// put remembers a reading if the site gave validators.
func (m *pageCache) put(ctx context.Context, url string, v fetch.Validators, read reading) error {
	if v == (fetch.Validators{}) {
		return nil
	}
	data, err := json.Marshal(cachedPage{v, read})
	if err != nil {
		return err
	}
	return m.redis.Set(ctx, m.key(url), data, pageTTL).Err()
}
