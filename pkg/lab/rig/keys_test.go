package rig

import (
	"testing"
	"time"

	"ushuru/pkg/redisx/redistest"
)

func TestPatternOf(t *testing.T) {
	for key, want := range map[string]string{
		"job:01KAPZ8V5Q1C9S7V6J2R3T4W5X":  "job:*",
		"asynq:{any}:t:01KAPZ8V5Q":        "asynq:{any}:t:*",
		"stat:2026112216":                 "stat:*",
		"tax:TOYOTA:COROLLA AXIO:2016":    "tax:*",
		"batch:01KAPZ8V5Q1C9S7V6J2R:rows": "batch:*:rows",
	} {
		if got := PatternOf(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestReadKeysFindsWhatLasts(t *testing.T) {
	client := redistest.Open(t, redistest.Start(t).URL).Client()
	for key, lifetime := range map[string]time.Duration{"job:1": time.Hour, "job:2": time.Minute, "left:3": 0} {
		if err := client.Set(t.Context(), key, "value", lifetime).Err(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := ReadKeys(t.Context(), client)
	if err != nil || len(all) != 2 || all[0].Count != 2 || all[0].Lasting != 0 || all[0].Longest < 59*time.Minute ||
		all[1].Pattern != "left:*" || all[1].Lasting != 1 || all[1].Bytes == 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
