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

// memory keeps what was read of pages whose site can say that a page has not
// changed, so that the site need not send it again: when an estimate failed
// after the page was read, or has expired. Not the page is kept but what was
// read of it; and by one version of the program for itself only, because
// another may read better.
type memory struct{ redis redis.UniversalClient }

const memoryLife = 14 * 24 * time.Hour

// remembered is what is kept of one page; empty when nothing is.
type remembered struct {
	Validators fetch.Validators `json:"validators"`
	Reading    reading          `json:"reading"`
}

func (*memory) key(url string) string {
	sum := sha256.Sum256([]byte(revision + "\n" + url))
	return "read:" + hex.EncodeToString(sum[:])
}

// revision names the version of the program.
var revision = func() string {
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

// recall returns what is kept of a page.
func (m *memory) recall(ctx context.Context, url string) (remembered, error) {
	data, err := m.redis.Get(ctx, m.key(url)).Bytes()
	if errors.Is(err, redis.Nil) {
		return remembered{}, nil
	}
	if err != nil {
		return remembered{}, fmt.Errorf("worker: what was read before: %w", err)
	}
	var known remembered
	if err := json.Unmarshal(data, &known); err != nil {
		return remembered{}, nil //nolint:nilerr // it is read anew
	}
	return known, nil
}

// keep remembers a reading if the site gave validators.
func (m *memory) keep(ctx context.Context, url string, v fetch.Validators, read reading) error {
	if v == (fetch.Validators{}) {
		return nil
	}
	data, err := json.Marshal(remembered{v, read})
	if err != nil {
		return err
	}
	return m.redis.Set(ctx, m.key(url), data, memoryLife).Err()
}
