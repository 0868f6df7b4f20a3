package e2e

import (
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ushuru/pkg/testenv"
)

var archive = flag.String("archive", "", "the archive of a release for TestFirstEstimateInACleanRoot, which else makes one")

// The commands of operating.md lead from the archive to an estimate, literally, in a root
// that has a shell and the archive and nothing else, and a network with no one else in it.
func TestFirstEstimateInACleanRoot(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	unshare, busybox := testenv.Binary(t, "unshare"), testenv.Binary(t, "busybox")
	// The user of this machine is root in namespaces of its own.
	namespaces := []string{"--user", "--map-root-user", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child"}
	if out, err := exec.CommandContext(t.Context(), unshare, append(namespaces, "true")...).CombinedOutput(); err != nil {
		testenv.Missing(t, "namespaces", err, string(out))
	}
	commands := commandsBelow(t, testenv.Document(t, "docs/operating.md"), "Five commands to a first estimate")
	if got := strings.Count(commands, "\n"); got != 5 {
		t.Fatalf("%d commands:\n%s", got, commands)
	}
	dir := t.TempDir()
	cleanRoot(t, dir, busybox)
	if *archive == "" {
		pack(t, dir)
	} else {
		place(t, *archive, filepath.Join(dir, filepath.Base(*archive)), 0o600)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	script := "ip link set lo up\n" + commands
	command := exec.CommandContext(ctx, unshare, append(namespaces, "--root", dir, "/bin/sh", "-euc", script)...)
	command.Env, command.WaitDelay = []string{"PATH=/bin", "HOME=/"}, time.Second
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, demoSaid(dir))
	}
	for _, part := range []string{"SIMULATED", "TZS", "Corolla Axio", "Total"} {
		if !strings.Contains(strings.ToLower(string(out)), strings.ToLower(part)) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	t.Logf("%s", out)
}

// commandsBelow returns the first block below a heading.
func commandsBelow(t *testing.T, document, heading string) string {
	t.Helper()
	_, below, found := strings.Cut(document, "\n## "+heading+"\n")
	below, _, _ = strings.Cut(below, "\n## ")
	if all := testenv.Blocks(below); found && len(all) > 0 {
		return strings.TrimSpace(all[0].Text) + "\n"
	}
	t.Fatalf("operating.md has no commands below %q", heading)
	return ""
}

// cleanRoot makes a root with a shell and its tools, all of them one static program.
func cleanRoot(t *testing.T, dir, busybox string) {
	t.Helper()
	for _, name := range []string{"bin", "dev", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	place(t, busybox, filepath.Join(dir, "bin", "busybox"), 0o700)
	place(t, os.DevNull, filepath.Join(dir, os.DevNull), 0o600)
	for _, name := range []string{"sh", "tar", "gzip", "sed", "grep", "sleep", "ip"} {
		if err := os.Symlink("busybox", filepath.Join(dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
}

// library finds the libraries in what ldd prints.
var library = regexp.MustCompile(`(/\S+) \(0x`)

// pack makes an archive of the program of these tests as that of a release is. A release is
// static; this one is not where there is a C compiler, and its C library goes beside it.
func pack(t *testing.T, dir string) {
	t.Helper()
	top := filepath.Join(t.TempDir(), "ushuru_0.0.0_linux_amd64")
	if err := os.Mkdir(top, 0o700); err != nil {
		t.Fatal(err)
	}
	place(t, programPath(t), filepath.Join(top, "ushuru"), 0o700)
	out, err := exec.CommandContext(t.Context(), testenv.Binary(t, "tar"), "-czf", filepath.Join(dir, filepath.Base(top)+".tar.gz"),
		"-C", filepath.Dir(top), filepath.Base(top)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, _ = exec.CommandContext(t.Context(), testenv.Binary(t, "ldd"), programPath(t)).Output() // it fails for a static program
	for _, found := range library.FindAllStringSubmatch(string(out), -1) {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(found[1])), 0o700); err != nil {
			t.Fatal(err)
		}
		place(t, found[1], filepath.Join(dir, found[1]), 0o700)
	}
}

// place copies a file.
func place(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

// demoSaid returns what the demo has printed in the root.
func demoSaid(dir string) []byte {
	names, _ := filepath.Glob(filepath.Join(dir, "ushuru_*", "demo.txt"))
	if len(names) == 0 {
		return nil
	}
	text, _ := os.ReadFile(names[0])
	return text
}
