package e2e

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

const (
	contract  = "../openapi.yaml"         // from the folder of the generators
	generated = "../../../../api/clients" // their folder, from that of the tests
)

// tool returns the path of an installed tool of package.json.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(generated, "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		testenv.Missing(t, err, "npm ci installs it")
	}
	return path
}

// run runs a program and returns what it prints; it must succeed.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Env = dir, append(os.Environ(), env...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, out)
	}
	return string(out)
}

// The linters and generators of openapi.yaml that client developers use have nothing to say
// of it. CI installs them (api/clients/package.json).
func TestLintersHaveNoWarning(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	out := run(t, generated, []string{"REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "NO_COLOR=1"}, tool(t, "redocly"), "lint", "--format=stylish", contract)
	if !strings.Contains(out, "is valid") || strings.Contains(out, "You have") {
		t.Errorf("redocly:\n%s", out)
	}
	out = run(t, generated, nil, tool(t, "spectral"), "lint", "--fail-severity=hint", contract)
	if strings.Contains(out, "problem") {
		t.Errorf("spectral:\n%s", out)
	}
}

// The generated TypeScript compiles in the strictest form, and calls the demo.
func TestTypeScriptClientCallsTheDemo(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	generator, compiler, node := tool(t, "openapi-typescript"), tool(t, "tsc"), testenv.Binary(t, "node")
	dir := t.TempDir()
	for _, name := range []string{"call.ts", "tsconfig.json", "package.json"} {
		text, err := os.ReadFile(filepath.Join(generated, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	modules, err := filepath.Abs(filepath.Join(generated, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	run(t, generated, nil, generator, contract, "-o", filepath.Join(dir, "schema.ts"))
	run(t, dir, nil, compiler, "--project", dir)

	conn := redistest.Embedded(t)
	d, err := demo.Start(t.Context(), demo.Options{Redis: conn, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	out := run(t, dir, []string{
		"USHURU_URL=" + d.URL, "USHURU_KEY=" + d.Key, "LISTING=" + d.Site + listingtest.Cars()[0].Path(),
	}, node, filepath.Join("out", "call.js"))
	if !strings.Contains(out, "the generated client works") {
		t.Error(out)
	}
}

// What oapi-codegen generates compiles.
func TestGoClientCompiles(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	generator := testenv.Binary(t, "oapi-codegen")
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(generated, "golang", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, generated, nil, generator, "-generate", "types,client,spec", "-package", "generated", "-o", filepath.Join(dir, "client.go"), contract)
	run(t, dir, []string{"GOFLAGS=-mod=readonly"}, testenv.Binary(t, "go"), "vet", ".")
}
