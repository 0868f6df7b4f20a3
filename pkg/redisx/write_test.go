package redisx_test

import (
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
