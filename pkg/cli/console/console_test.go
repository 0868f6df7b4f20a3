package console_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"ushuru/pkg/cli/console"
)

func TestListAndShow(t *testing.T) {
	var out bytes.Buffer
	s := console.Streams{Out: &out}
	type entry struct{ Name, Note string }
	entries := []entry{{"a\x1b[2Jb", "two\nlines"}, {"c", ""}}
	cells := func(e entry) []string { return []string{e.Name, e.Note} }
	if err := console.List(s, console.Format{}, entries, "NAME\tNOTE", cells); err != nil {
		t.Fatal(err)
	}
	if want := "NAME    NOTE\na [2Jb  two lines\nc       -\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	if err := console.List(s, console.Format{JSON: true}, entries[:0], "NAME\tNOTE", cells); err != nil || out.String() != "[]\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	if err := console.Show(s, console.Format{}, nil, []console.Field{{Name: "Name", Value: "x"}, {Name: "Empty"}}); err != nil ||
		out.String() != "Name  x\n" {
		t.Errorf("%q, %v", out.String(), err)
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
