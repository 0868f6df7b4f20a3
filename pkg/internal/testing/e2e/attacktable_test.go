package e2e

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	document   = "../../../../docs/SECURITY.md"
	tableBegin = "<!-- attacks: written by make attacks ATTACKS=-update -->\n"
	tableEnd   = "<!-- end of attacks -->\n"
	tableHead  = "| attack | p95 of the victim: before → during | failed | most MB: API, worker, Redis |\n|---|---|---|---|\n"
)

// String returns the row in Markdown.
func (r row) String() string {
	return fmt.Sprintf("| %s | %v → %v | %d | %s |\n", r.name, r.idle.quantile(.95), r.during.quantile(.95), len(r.during.failures), r.memory)
}

// printTable prints the table of the attacks of this run in Markdown.
func printTable(out io.Writer) {
	measured.Lock()
	defer measured.Unlock()
	if len(measured.rows) == 0 {
		return
	}
	_, _ = fmt.Fprint(out, "\n"+tableHead)
	for _, r := range measured.rows {
		_, _ = fmt.Fprint(out, r)
	}
	if *update {
		if err := updateDocument(measured.rows); err != nil {
			_, _ = fmt.Fprintln(out, err)
		}
	}
}

// updateDocument replaces the rows of attacks that were measured now, and adds new ones.
func updateDocument(rows []row) error {
	data, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	text := string(data)
	before, rest, begun := strings.Cut(text, tableBegin)
	old, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		return fmt.Errorf("%s has no place for the table", document)
	}
	return os.WriteFile(document, []byte(before+tableBegin+merged(old, rows)+tableEnd+after), 0o600)
}

// merged returns the table with the date and the machine.
func merged(old string, rows []row) string {
	var lines []string
	at := map[string]int{}
	add := func(name, line string) {
		if i, known := at[name]; known {
			lines[i] = line
			return
		}
		at[name] = len(lines)
		lines = append(lines, line)
	}
	if _, listed, ok := strings.Cut(old, tableHead); ok {
		for line := range strings.Lines(listed) {
			if cells := strings.SplitN(line, "|", 3); len(cells) == 3 {
				add(strings.TrimSpace(cells[1]), line)
			}
		}
	}
	for _, r := range rows {
		add(r.name, r.String())
	}
	return fmt.Sprintf("%s, %s, on %d cores of %s, %s.\n\n%s%s",
		time.Now().Format(time.DateOnly), pick("in full", "in the short form (12 requests during each)"), runtime.NumCPU(), processor(), runtime.Version(), tableHead, strings.Join(lines, ""))
}

// processor returns the name of this machine's processor.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, _ := strings.Cut(string(info), "model name")
	name, _, _ := strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
	return name
}

func TestMeasuredRowsReplaceThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	first := merged("", []row{{name: "a", memory: "old"}, {name: "b", memory: "kept"}})
	second := merged(first, []row{{name: "a", memory: "new"}, {name: "c"}})
	for _, want := range []string{"| new |", "| kept |", "| c |", time.Now().Format(time.DateOnly)} {
		if !strings.Contains(second, want) {
			t.Errorf("%q is missing in\n%s", want, second)
		}
	}
	if strings.Contains(second, "| old |") || strings.Count(second, tableHead) != 1 {
		t.Error(second)
	}
}
