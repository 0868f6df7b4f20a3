// Package deploy holds what the service is deployed with, and tests that it does what
// it says. It has no code of its own.
package deploy

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/testenv"
)

// newEnv runs new-env in a copy of this folder and returns the files of settings.
func newEnv(t *testing.T) map[string]string {
	t.Helper()
	script, err := os.ReadFile("new-env")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "new-env")
	if err := os.WriteFile(program, script, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func() error { return exec.CommandContext(t.Context(), testenv.Binary(t, "sh"), program).Run() }
	if err := run(); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	names, _ := filepath.Glob(filepath.Join(dir, "env", "*.env"))
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(text)
	}
	if err := run(); err == nil {
		t.Error("the second time it replaces the passwords")
	}
	return files
}

// For the systemd units new-env makes a file for each of them, of users of Redis on this machine, and
// one for the operator; redis/start writes the users with the same passwords.
func TestNewEnvMakesTheSettingsOfTheUnits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shell := func(script string) (string, error) {
		command := exec.CommandContext(t.Context(), testenv.Binary(t, "sh"), "-c", script)
		command.Env = []string{"DIR=" + dir, "PATH=" + os.Getenv("PATH")}
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := shell(`./new-env "$DIR" && set -a && . "$DIR/redis.env" && ACL_FILE="$DIR/users.acl" sh redis/start users`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	acl := read(t, filepath.Join(dir, "users.acl"))
	for name, user := range map[string]string{"api": "api", "any": "worker", "ai": "ai", "authority": "authority", "operator": "operator"} {
		password := regexp.MustCompile(`REDIS_URL=redis://` + user + `:([0-9a-f]+)@127\.0\.0\.1:6379/0`).
			FindStringSubmatch(read(t, filepath.Join(dir, name+".env")))
		if password == nil || !strings.Contains(acl, "\nuser "+user+" on >"+password[1]+" ") {
			t.Errorf("%s.env is no user %s of Redis", name, user)
		}
	}
	if out, err := shell(`./new-env "$DIR"`); err == nil {
		t.Errorf("the second time it replaces the passwords: %s", out)
	}
}

// No file of settings is replaced, whichever is there, and nothing is written beside it.
func TestNewEnvReplacesNoFile(t *testing.T) {
	t.Parallel()
	script := read(t, "new-env")
	units := regexp.MustCompile(`"\$new/([a-z]+\.env)"`).FindAllStringSubmatch(script, -1)
	if len(units) < 8 {
		t.Fatalf("got %d files in new-env, want all: %v", len(units), units)
	}
	for _, name := range append(units, []string{"", "worker.env"}, []string{"", "any.env"}) {
		for _, args := range [][]string{nil, {"env"}} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "new-env"), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "env"), 0o700); err != nil {
				t.Fatal(err)
			}
			kept := filepath.Join(dir, "env", name[1])
			if err := os.WriteFile(kept, []byte("SECRETS_KEY=old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), testenv.Binary(t, "sh"), append([]string{"./new-env"}, args...)...)
			command.Dir = dir
			out, err := command.CombinedOutput()
			files, _ := os.ReadDir(filepath.Join(dir, "env"))
			if err == nil || len(files) != 1 || read(t, kept) != "SECRETS_KEY=old\n" {
				t.Errorf("new-env %v with %s: got %v and %d files, want it refused and one file\n%s", args, name[1], err, len(files), out)
			}
		}
	}
}

// value returns a setting of a file.
func value(t *testing.T, file, name string) string {
	t.Helper()
	match := regexp.MustCompile("(?m)^" + name + "=(.*)$").FindStringSubmatch(file)
	if match == nil {
		t.Fatalf("%s is not in %s", name, file)
	}
	return match[1]
}

// Every service has a file of its own, with the settings that it knows and only the
// secrets that it needs.
func TestEachServiceHasItsOwnSecrets(t *testing.T) {
	t.Parallel()
	files := newEnv(t)
	settings, err := os.ReadFile(filepath.Join("..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`)
	owners := map[string][]string{} // of each value that was made
	for file, text := range files {
		for _, match := range names.FindAllStringSubmatch(text, -1) {
			if file != "redis.env" && file != "grafana.env" && file != "alertmanager.env" && !strings.Contains(string(settings), "| `"+match[1]+"`") {
				t.Errorf("%s has %s, which is not a setting", file, match[1])
			}
			for _, secret := range regexp.MustCompile(`[0-9a-f]{48}|[A-Za-z0-9+/]{43}=`).FindAllString(match[2], -1) {
				owners[secret] = append(owners[secret], file)
			}
		}
	}
	if len(owners) != 7 {
		t.Errorf("%d secrets", len(owners))
	}
	for secret, of := range owners {
		slices.Sort(of)
		// of one service, of the operator, or of Grafana
		password := len(of) <= 2 && slices.Contains(of, "redis.env") || slices.Equal(of, []string{"grafana.env"})
		if !password && (!slices.Equal(of, []string{"api.env", "worker.env"}) || len(secret) != 44) {
			t.Errorf("a secret is in %v", of)
		}
	}
	compose := read(t, filepath.Join("..", "docker-compose.yml")) + read(t, filepath.Join("compose", "observe.yml"))
	for name := range files {
		if !strings.Contains(compose, "deploy/env/"+name) {
			t.Errorf("docker-compose.yml does not use %s", name)
		}
	}
	for _, used := range regexp.MustCompile(`deploy/env/([a-z]+\.env)`).FindAllStringSubmatch(compose, -1) {
		if files[used[1]] == "" {
			t.Errorf("docker-compose.yml uses %s, which new-env does not make", used[1])
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every image is named by its digest, and every service is bounded.
func TestImagesAreNamedByDigestAndServicesBounded(t *testing.T) {
	t.Parallel()
	compose, dockerfile := read(t, filepath.Join("..", "docker-compose.yml")), read(t, "Dockerfile")
	overlays, err := filepath.Glob(filepath.Join("compose", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var added strings.Builder
	for _, name := range overlays {
		added.WriteString(read(t, name))
	}
	digest := regexp.MustCompile(`^[a-z]+(/[a-z]+)?:v?\d+\.\d+\.\d+(-[a-z]+)?@sha256:[0-9a-f]{64}$`)
	images := regexp.MustCompile(`(?m)^\s*image: (\S+)|^FROM (\S+)`).FindAllStringSubmatch(compose+added.String()+dockerfile, -1)
	for _, match := range images {
		image := match[1] + match[2]
		if image != "ushuru" && image != "scratch" && !digest.MatchString(image) {
			t.Errorf("%s is not named by its digest", image)
		}
	}
	if len(images) != 8 {
		t.Errorf("images %v", images)
	}
	mod := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(read(t, filepath.Join("..", "go.mod")))
	if !strings.Contains(dockerfile, "golang:"+mod[1]+"-") {
		t.Errorf("the image of deploy/Dockerfile has not Go %s", mod[1])
	}
	_, services, _ := strings.Cut(compose, "\nservices:\n")
	services, _, _ = strings.Cut(services, "\nnetworks:\n")
	for _, service := range regexp.MustCompile(`(?m)^  [a-z-]+:$`).Split(services, -1)[1:] {
		bounded := strings.Contains(service, "mem_limit:") && strings.Contains(service, "pids_limit:")
		if !bounded && !strings.Contains(service, "<<: *ushuru") || !strings.Contains(service, "env_file:") {
			t.Errorf("a service is not bounded or has no settings of its own:\n%s", service)
		}
	}
	common, _, _ := strings.Cut(compose, "\nservices:\n")
	if !strings.Contains(common, "mem_limit:") || !strings.Contains(common, "pids_limit:") {
		t.Error("the services of ushuru are not bounded")
	}
}

// startRedis runs redis/start as the compose file does, on a socket, and returns the
// path of the socket.
func startRedis(t *testing.T, env string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ushuru-deploy") //nolint:usetesting // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	_, socket := runRedis(t, dir, "redis", env)
	return socket
}

// runRedis runs the start script of a folder over a folder of data.
func runRedis(t *testing.T, dir, scripts, env string) (server *exec.Cmd, socket string) {
	t.Helper()
	testenv.Binary(t, "redis-server")
	socket = filepath.Join(dir, "redis")
	_ = os.Remove(socket) // of a server that was killed
	server = exec.Command(testenv.Binary(t, "sh"), filepath.Join(scripts, "start"),
		"--port", "0", "--unixsocket", socket, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always",
		"--maxmemory-policy", "noeviction")
	server.Env = append(strings.Fields(env), "ACL_FILE="+filepath.Join(dir, "users.acl"), "PATH="+os.Getenv("PATH"))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	testenv.Await(t, "the socket of redis-server", func() (any, bool) {
		_, err := os.Stat(socket)
		return err, err == nil
	})
	return server, socket
}

// as returns a connection of a user.
func as(t *testing.T, socket, user, password string) *redisx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := redisx.Open(ctx, redisx.Options{URL: "redis-socket://" + user + ":" + password + "@" + socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A password that would break the file of users, or a missing one, is refused.
func TestRedisDoesNotStartWithoutPasswords(t *testing.T) {
	t.Parallel()
	testenv.Binary(t, "redis-server")
	good := "REDIS_API_PASSWORD=a REDIS_WORKER_PASSWORD=b REDIS_AI_PASSWORD=c REDIS_AUTHORITY_PASSWORD=d"
	for _, operator := range []string{"", "REDIS_OPERATOR_PASSWORD=", "REDIS_OPERATOR_PASSWORD=a>b", "REDIS_OPERATOR_PASSWORD=nopass\non"} {
		command := exec.CommandContext(t.Context(), testenv.Binary(t, "sh"), "redis/start", "--port", "0")
		command.Env = append(strings.Fields(good), operator, "PATH="+os.Getenv("PATH"), "ACL_FILE="+filepath.Join(t.TempDir(), "acl"))
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "REDIS_OPERATOR_PASSWORD must be set") {
			t.Errorf("%q: %v, %s", operator, err, out)
		}
	}
}

// sources returns the code of the services, without tests and rigs, by file.
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range []string{"api", "pkg", "tasks", "worker"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
				strings.HasSuffix(filepath.Dir(path), "test") || strings.Contains(path, "/lab/") {
				return err
			}
			found[path] = read(t, path)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// The example of settings names settings that exist, and no secret.
func TestTheExampleOfSettingsIsValid(t *testing.T) {
	t.Parallel()
	settings := read(t, filepath.Join("..", "docs", "configuration.md"))
	for _, match := range regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`).FindAllStringSubmatch(read(t, filepath.Join("..", ".env.example")), -1) {
		if !strings.Contains(settings, "`"+match[1]+"`") {
			t.Errorf("%s is not a setting", match[1])
		}
		if secret := regexp.MustCompile(`KEY|PASSWORD|PROXY`).MatchString(match[1]); secret && match[2] != "" {
			t.Errorf("%s has a value", match[1])
		}
	}
}

// Nothing that only tests or the demo need is in a production build.
func TestProductionBuildHasNoTestModules(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "production", ".")
	command.Dir = ".."
	out, err := command.Output()
	packages := strings.Fields(string(out))
	if err != nil || !slices.Contains(packages, "ushuru/api") {
		t.Fatalf("got %d packages, %v; want those of the program", len(packages), err)
	}
	for _, module := range []string{
		"github.com/alicebob/miniredis/", "github.com/yuin/gopher-lua", "github.com/Shopify/toxiproxy/",
		"github.com/chromedp/chromedp", "github.com/rogpeppe/go-internal", "github.com/rs/zerolog",
		"github.com/yuin/goldmark", "go.uber.org/goleak", "pgregory.net/rapid", "ushuru/pkg/lab",
	} {
		if at := slices.IndexFunc(packages, func(name string) bool { return strings.HasPrefix(name, module) }); at >= 0 {
			t.Errorf("got %s in a production build, want nothing of it", packages[at])
		}
	}
	if !strings.Contains(read(t, "Dockerfile"), "go build -tags production ") {
		t.Error("got a Dockerfile that builds without the tag production")
	}
}

// The release is built as the image is, of files that exist.
func TestTheReleaseIsBuiltAsTheImage(t *testing.T) {
	t.Parallel()
	release, image := read(t, filepath.Join("..", ".goreleaser.yaml")), read(t, "Dockerfile")
	for _, both := range []string{"production", "-trimpath", "cli.buildVersion=", "cli.buildCommit=", "cli.buildDate=", "deploy/notices"} {
		if !strings.Contains(release, both) || !strings.Contains(image, both) {
			t.Errorf("release or image without %s", both)
		}
	}
	for _, match := range regexp.MustCompile(`\{src: ([^ ,}]+)|^ {6}- ([A-Za-z./]+[A-Za-z/*.]+)$`).FindAllStringSubmatch(release, -1) {
		name := match[1] + match[2]
		if found, err := filepath.Glob(filepath.Join("..", name)); err != nil || len(found) == 0 && !strings.HasPrefix(name, ".release/") {
			t.Errorf("the release has %s, which does not exist", name)
		}
	}
}
