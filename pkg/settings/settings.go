// Package settings compares the settings of the processes that share a Redis: a rate that
// two workers do not have alike is kept by neither.
//
// In Redis: settings:processes orders the processes by when they were last alive, and
// settings:{<id>} has the settings of one. A process writes its own once, and then only
// that it is alive; it reads those of a process that it does not know.
package settings

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	keyProcesses = "settings:processes"

	interval = 20 * time.Second
	// deadAfter is how long a process counts that was killed.
	deadAfter = 3 * interval
)

func keyProcess(id string) string { return "settings:{" + id + "}" }

// Process is a process and the settings that it must share.
type Process struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"` // "api on server 1"
	Started  time.Time         `json:"started"`
	Settings map[string]string `json:"settings"` // by name; of a secret, a part of its hash
}

// Difference is a setting that two processes do not have alike.
type Difference struct {
	Setting     string `json:"setting"`
	Own, Others string // values
	Process     string // that has the other value
}

func (d Difference) String() string {
	return fmt.Sprintf("%s is %q here and %q in %s", d.Setting, d.Own, d.Others, d.Process)
}

// Differences returns in what other processes differ from one, of the settings that both
// have.
func Differences(own Process, others []Process) (found []Difference) {
	for _, other := range others {
		for name, value := range own.Settings {
			if theirs, has := other.Settings[name]; has && theirs != value && other.ID != own.ID {
				found = append(found, Difference{name, value, theirs, other.Name})
			}
		}
	}
	slices.SortFunc(found, func(a, b Difference) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// List returns the processes that were alive in the last minute.
func List(ctx context.Context, client redis.UniversalClient) ([]Process, error) {
	ids, err := client.ZRangeByScore(ctx, keyProcesses, &redis.ZRangeBy{
		Min: strconv.FormatInt(time.Now().Add(-deadAfter).Unix(), 10), Max: "+inf",
	}).Result()
	if err != nil {
		return nil, fmt.Errorf("settings: processes: %w", err)
	}
	return read(ctx, client, ids)
}

func read(ctx context.Context, client redis.UniversalClient, ids []string) ([]Process, error) {
	processes := make([]Process, 0, len(ids))
	for _, id := range ids {
		text, err := client.Get(ctx, keyProcess(id)).Bytes()
		if errors.Is(err, redis.Nil) {
			continue
		}
		var p Process
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		if err != nil {
			return nil, fmt.Errorf("settings: process %s: %w", id, err)
		}
		processes = append(processes, p)
	}
	return processes, nil
}

// Watcher tells in what the other processes differ from this one.
type Watcher struct {
	redis    redis.UniversalClient
	log      *slog.Logger
	own      Process
	known    map[string]bool // processes that were compared
	reported map[string]bool // differences
}

// NewWatcher makes a Watcher for a process that begins now.
func NewWatcher(client redis.UniversalClient, log *slog.Logger, name string, values map[string]string) *Watcher {
	own := Process{ID: rand.Text(), Name: name, Started: time.Now().UTC().Truncate(time.Second), Settings: values}
	return &Watcher{redis: client, log: log, own: own, known: map[string]bool{own.ID: true}, reported: map[string]bool{}}
}

// Run publishes the settings and logs each difference once, until ctx ends. Then it removes
// its own.
func (w *Watcher) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := w.Look(ctx); err != nil && ctx.Err() == nil {
			w.log.DebugContext(ctx, "settings not compared", "error", err) // the next look does
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = w.redis.ZRem(last, keyProcesses, w.own.ID).Err() // both expire by themselves
			_ = w.redis.Del(last, keyProcess(w.own.ID)).Err()
			return
		case <-ticker.C:
		}
	}
}

// Look says that the process is alive, and compares its settings with those of processes
// that it has not seen before.
func (w *Watcher) Look(ctx context.Context) error {
	now := time.Now()
	alive, err := w.redis.Expire(ctx, keyProcess(w.own.ID), deadAfter).Result()
	if err == nil && !alive {
		var text []byte
		if text, err = json.Marshal(w.own); err == nil {
			err = w.redis.Set(ctx, keyProcess(w.own.ID), text, deadAfter).Err()
		}
	}
	if err != nil {
		return fmt.Errorf("settings: publish: %w", err)
	}
	pipe := w.redis.Pipeline()
	pipe.ZAdd(ctx, keyProcesses, redis.Z{Score: float64(now.Unix()), Member: w.own.ID})
	pipe.ZRemRangeByScore(ctx, keyProcesses, "-inf", strconv.FormatInt(now.Add(-deadAfter).Unix(), 10))
	pipe.Expire(ctx, keyProcesses, deadAfter)
	ids := pipe.ZRange(ctx, keyProcesses, 0, -1)
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("settings: processes: %w", err)
	}
	unknown := slices.DeleteFunc(ids.Val(), func(id string) bool { return w.known[id] })
	others, err := read(ctx, w.redis, unknown)
	if err != nil {
		return err
	}
	for _, other := range others {
		w.known[other.ID] = true
	}
	for _, d := range Differences(w.own, others) {
		if text := d.String(); !w.reported[text] {
			w.reported[text] = true
			w.log.WarnContext(ctx, "processes that share Redis have different settings",
				"setting", d.Setting, "own", d.Own, "other", d.Others, "process", d.Process)
		}
	}
	return nil
}
