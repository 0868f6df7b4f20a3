package e2e

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// copied copies files of the generators' folder to another.
func copied(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(generated, from, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(to, strings.TrimSuffix(name, ".txt")), text, 0o600))
	}
}

// callsTheDemo runs a program that calls the demo with a generated client.
func callsTheDemo(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	d, err := demo.Start(t.Context(), demo.Options{Redis: redistest.Embedded(t), Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(d.Stop)
	out := run(t, dir, []string{
		"USHURU_URL=" + d.URL, "USHURU_KEY=" + d.Key, "LISTING=" + d.Site + listingtest.Cars()[0].Path(),
	}, program, args...)
	if !strings.Contains(out, "the generated client works") {
		t.Error(out)
	}
}

// The types and the client that two generators make in TypeScript compile in the strict form,
// and call the demo.
func TestTypeScriptClientsCallTheDemo(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for _, c := range []struct {
		program, project string
		generate         []string
	}{
		{"call", "tsconfig.json", []string{"openapi-typescript", contract, "-o", "schema.ts"}},
		{"sdk", "tsconfig.sdk.json", []string{"openapi-ts", "-i", contract, "-o", "sdk", "-c", "@hey-api/client-fetch"}},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			compiler, node, dir := tool(t, "tsc"), testenv.Binary(t, "node"), t.TempDir()
			copied(t, "", dir, c.program+".ts", "tsconfig.json", "tsconfig.sdk.json", "package.json")
			modules, err := filepath.Abs(filepath.Join(generated, "node_modules"))
			must(t, err)
			must(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
			args := slices.Clone(c.generate[1:])
			at := slices.Index(args, "-o") + 1
			args[at] = filepath.Join(dir, args[at])
			run(t, generated, nil, tool(t, c.generate[0]), args...)
			run(t, dir, nil, compiler, "--project", c.project)
			callsTheDemo(t, dir, node, filepath.Join("out", c.program+".js"))
		})
	}
}

// What oapi-codegen generates compiles, and calls the demo.
func TestGoClientCallsTheDemo(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	generator, compiler := testenv.Binary(t, "oapi-codegen"), testenv.Binary(t, "go")
	dir := t.TempDir()
	copied(t, "golang", dir, "go.mod", "go.sum")
	must(t, os.Mkdir(filepath.Join(dir, "call"), 0o700))
	copied(t, "golang", filepath.Join(dir, "call"), "call.go.txt")
	run(t, generated, nil, generator, "-generate", "types,client,spec", "-package", "generated", "-o", filepath.Join(dir, "client.go"), contract)
	run(t, dir, []string{"GOFLAGS=-mod=readonly"}, compiler, "build", "-o", "calls", "./call")
	callsTheDemo(t, dir, filepath.Join(dir, "calls"))
}
