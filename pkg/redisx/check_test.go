package redisx_test

import (
	"errors"
	"strconv"
	"testing"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// A Redis whose disk is full can be connected to, by an operator too; it answers, and it
// refuses writes.
func TestARedisThatCannotSaveAnswersAndRefusesWrites(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.SavePoint())
	repair := server.FailSaves()
	conn := redistest.Open(t, server.URL)
	if err := redisx.Ping(t.Context(), conn.Client()); err != nil {
		t.Errorf("ping: %v", err)
	}
	if err := redisx.CheckWrite(t.Context(), conn.Client()); err == nil {
		t.Error("a write is accepted")
	}
	repair()
	if err := redisx.CheckWrite(t.Context(), conn.Client()); err != nil {
		t.Errorf("after the repair: %v", err)
	}
	server.Kill()
	if err := redisx.Ping(t.Context(), conn.Client()); err == nil {
		t.Error("a server that is gone answers")
	}
}

// A Redis that is all but full accepts no work, also while it would accept a small write.
func TestAFullRedisAcceptsNoWork(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := redistest.Open(t, server.URL).Client()
	limit := func(room int64) {
		t.Helper()
		memory, err := redisx.ReadMemory(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.ConfigSet(t.Context(), "maxmemory", strconv.FormatInt(memory.Used+room, 10)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.SetRange(t.Context(), "ballast", 8<<20, "x").Err(); err != nil {
		t.Fatal(err)
	}
	limit(4 << 20)
	if err := redisx.CheckWrite(t.Context(), client); err != nil {
		t.Errorf("with room: %v", err)
	}
	limit(512 << 10)
	if err := redisx.CheckWrite(t.Context(), client); !errors.Is(err, redisx.ErrFull) {
		t.Errorf("with little room got %v, want %v", err, redisx.ErrFull)
	}
	limit(-1 << 20)
	if err := redisx.CheckWrite(t.Context(), client); err == nil {
		t.Error("without room a write is accepted")
	}
}
