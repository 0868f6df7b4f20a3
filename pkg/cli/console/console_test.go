package console_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"ushuru/pkg/cli/console"
)

func TestListsAndRecords(t *testing.T) {
	var out bytes.Buffer
	s := console.Streams{Out: &out}
	type entry struct{ Name, Note string }
	entries := []entry{{"a\x1b[2Jb", "two\nlines"}, {"c", ""}}
	listed := console.Listed("NAME\tNOTE", func(e entry) []any { return []any{e.Name, e.Note} })
	if err := listed(entries)(s, console.Format{}); err != nil {
		t.Fatal(err)
	}
	if want := "NAME    NOTE\na [2Jb  two lines\nc       -\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	if err := listed(entries[:0])(s, console.Format{Output: "json"}); err != nil || out.String() != "[]\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	if err := console.Record(nil, "Name", "x", "Empty", "", "Never", time.Time{})(s, console.Format{}); err != nil ||
		out.String() != "Name  x\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// As CSV, a cell is what it was, but for what a spreadsheet would compute.
func TestCSV(t *testing.T) {
	var out bytes.Buffer
	s := console.Streams{Out: &out}
	listed := console.Listed("NAME\tNOTE", func(text string) []any { return []any{text, "b,c"} })
	if err := listed([]string{"a", "=1+1"})(s, console.Format{Output: "csv"}); err != nil {
		t.Fatal(err)
	}
	if err := console.Record(nil, "  Step", "x", "Empty", "")(s, console.Format{Output: "csv"}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "name,note\na,\"b,c\"\n'=1+1,\"b,c\"\nname,value\nStep,x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An answer is JSON unless the caller wants its members, each with its path.
func TestMembersOfAnAnswer(t *testing.T) {
	value := json.RawMessage(`{"b":[{"c":1.50},null],"a":"x"}`)
	for want, as := range map[string]console.Answer{
		"member,value\na,x\nb.0.c,1.50\n":                                                      {Output: "csv"},
		"MEMBER  VALUE\na       x\nb.0.c   1.50\n":                                             {Output: "json", Table: true},
		"{\n  \"b\": [\n    {\n      \"c\": 1.50\n    },\n    null\n  ],\n  \"a\": \"x\"\n}\n": {},
	} {
		var out bytes.Buffer
		if err := as.Print(console.Streams{Out: &out}, value); err != nil || out.String() != want {
			t.Errorf("%+v: got %q, %v; want %q", as, out.String(), err, want)
		}
	}
}

func TestExitStatus(t *testing.T) {
	for want, err := range map[int]error{
		console.ExitFailure: errors.New("x"),
		console.ExitUsage:   fmt.Errorf("y: %w", console.Usage("--rate: %q", "x")),
		console.ExitRows:    console.WithStatus(console.ExitRows, errors.New("x")),
	} {
		if got := console.StatusOf(err); got != want {
			t.Errorf("%v: got %d, want %d", err, got, want)
		}
	}
}

// What is not a terminal gets one line, or none where a program reads it.
func TestProgressWithoutATerminal(t *testing.T) {
	for want, silent := range map[string]bool{"first\n": false, "": true} {
		var errs bytes.Buffer
		p := console.Streams{Err: &errs}.NewProgress(silent)
		p.Show("first")
		p.Show("second")
		p.End()
		p.End()
		if errs.String() != want {
			t.Errorf("%q, want %q", errs.String(), want)
		}
	}
}

// A terminal shows the last text, and nothing of it stays.
func TestProgressOnATerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	if !console.IsTerminal(null) { // a character device, as a terminal is
		t.Fatal("the null device is not a character device")
	}
	p := console.Streams{Err: null}.NewProgress(true)
	p.Show("working\x1b[2J")
	p.End()
	p.Show("late") // an event that comes after the end
}

// A file is there as a whole or not at all.
func TestCopyFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.csv")
	broken := errors.New("broken")
	err := console.CopyFile(name, io.MultiReader(strings.NewReader("a,b"), iotest.ErrReader(broken)))
	if files, _ := os.ReadDir(filepath.Dir(name)); !errors.Is(err, broken) || len(files) != 0 {
		t.Errorf("%v, files %v", err, files)
	}
	if err := console.WriteFile(name, []byte("a,b\n")); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "a,b\n" {
		t.Errorf("%q, %v", data, err)
	}
}
