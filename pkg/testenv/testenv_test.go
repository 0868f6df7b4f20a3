package testenv_test

import (
	"runtime"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

const noSuchProgram = "no-such-program-of-ushuru"

func TestBinaryIsTheFirstInstalled(t *testing.T) {
	if got := testenv.Binary(t, noSuchProgram, "go"); !strings.HasSuffix(got, "go") {
		t.Errorf("path %q", got)
	}
}

// recorder is a test that keeps its verdict to itself.
type recorder struct {
	testing.TB

	verdict string
}

func (r *recorder) Helper()               {}
func (r *recorder) Skip(...any)           { r.end("skipped") }
func (r *recorder) Skipf(string, ...any)  { r.end("skipped") }
func (r *recorder) Fatalf(string, ...any) { r.end("failed") }

func (r *recorder) end(verdict string) {
	r.verdict = verdict
	runtime.Goexit()
}

// verdictOf is how a test that does this ends.
func verdictOf(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t, verdict: "passed"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(r)
	}()
	<-done
	return r.verdict
}

func TestWhatIsMissingSkipsButFailsWhereAllIsSaidToBeThere(t *testing.T) {
	program := func(t testing.TB) { t.Helper(); testenv.Binary(t, noSuchProgram) }
	reference := func(t testing.TB) { t.Helper(); testenv.Reference(t, "no", "such", "file") }
	for _, test := range []struct {
		real, reference    string
		ofBinary, ofLookup string
	}{
		{"", "", "skipped", "skipped"},
		{"0", "", "skipped", "skipped"},
		{"1", "", "failed", "failed"},
		{"1", "none", "failed", "skipped"},
	} {
		t.Setenv("USHURU_TEST_REAL", test.real)
		t.Setenv("USHURU_TEST_REFERENCE", test.reference)
		if got := verdictOf(t, program); got != test.ofBinary {
			t.Errorf("%+v: without a program it %s", test, got)
		}
		if got := verdictOf(t, reference); got != test.ofLookup {
			t.Errorf("%+v: without a file it %s", test, got)
		}
	}
}

func TestBrowserCanBeLeftOut(t *testing.T) {
	t.Setenv("USHURU_TEST_BROWSER", "none")
	for value, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("USHURU_TEST_REAL", value)
		if got := verdictOf(t, func(tb testing.TB) { tb.Helper(); testenv.Browser(tb) }); got != want {
			t.Errorf("without a browser, with USHURU_TEST_REAL=%s, got %s, want %s", value, got, want)
		}
	}
}

func TestTheLongTierRunsWhenAskedFor(t *testing.T) {
	for value, want := range map[[2]string]string{
		{"", ""}: "skipped", {"short", ""}: "skipped", {"long", ""}: "passed", {"", "1"}: "failed", {"long", "1"}: "passed",
	} {
		t.Setenv("USHURU_TEST", value[0])
		t.Setenv("USHURU_TEST_REAL", value[1])
		if got := verdictOf(t, func(tb testing.TB) { tb.Helper(); testenv.Long(tb) }); got != want {
			t.Errorf("with USHURU_TEST and USHURU_TEST_REAL=%q got %s, want %s", value, got, want)
		}
	}
}
