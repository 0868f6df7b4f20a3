package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/testenv"
)

// envUser names a user of deploy/redis/users: api, worker, ai or authority. With it every
// server has these users, the service under test is that user, and a test fails when the
// service tries what the user may not. What a test does itself to prepare or look is not
// restricted. Empty: there are no users.
const envUser = "USHURU_TEST_REDIS_USER"

func serviceUser() string { return os.Getenv(envUser) }

// Embedded returns the embedded Redis; with users a real server, because the embedded one
// has none.
func Embedded(t testing.TB) *redisx.Conn {
	t.Helper()
	if serviceUser() != "" {
		return Open(t, Start(t).URL)
	}
	return open(t, redisx.Options{AllowEmbedded: true})
}

// As returns a connection to the same Redis for another service, as a worker beside an API.
// Without users, and of the embedded Redis, it is the same connection.
func As(t testing.TB, conn *redisx.Conn, user string) *redisx.Conn {
	t.Helper()
	if serviceUser() == "" || conn.Embedded() {
		return conn
	}
	return Open(t, URLAs(strings.ReplaceAll(conn.String(), "***", serviceUser()), user))
}

// URLAs returns the URL of a server for another service.
func URLAs(url, user string) string {
	if own := serviceUser(); own != "" {
		url = strings.NewReplacer(
			own+":"+own+"@", user+":"+user+"@", "&username="+own+"&password="+own, "&username="+user+"&password="+user,
		).Replace(url)
	}
	return url
}

// withUsers adds the users to the arguments of a server. The default user may do everything.
// A Sentinel gets none.
func withUsers(dir string, args []string) ([]string, error) {
	if serviceUser() == "" || slices.Contains(args, "--sentinel") {
		return args, nil
	}
	root, err := testenv.Root()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy", "redis", "users")) //nolint:gosec // of this repository
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	file := filepath.Join(dir, "users.acl")
	if err := os.WriteFile(file, usersFile(string(text)), 0o600); err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	return append(args, "--aclfile", file), nil
}

var (
	rulesOfUsers = regexp.MustCompile(`(?m)^\{([A-Z]+)\}\n((?:[^{\n].*\n)+)`)
	oneUser      = regexp.MustCompile(`(?m)^user (\w+) .*$`)
	password     = regexp.MustCompile(`>\S+`)
)

// usersFile does what deploy/redis/start does. The password of a user is its name. Every user
// may list all keys, as tests do on each server of a Cluster, without the client; of the
// service only an operator does so.
func usersFile(text string) []byte {
	var file strings.Builder
	for _, user := range oneUser.FindAllStringSubmatch(text, -1) {
		line := user[0]
		for _, rules := range rulesOfUsers.FindAllStringSubmatch(text, -1) {
			line = strings.ReplaceAll(line, "{"+rules[1]+"}", strings.Join(strings.Fields(rules[2]), " "))
		}
		if line += " +scan +keys"; user[1] == "default" {
			line = "user default on nopass ~* &* +@all"
		}
		fmt.Fprintln(&file, password.ReplaceAllString(line, ">"+user[1]))
	}
	return []byte(file.String())
}

// asUser returns the URL of a server for the service under test.
func asUser(url string) string {
	user := serviceUser()
	scheme, rest, _ := strings.Cut(url, "://")
	switch {
	case user == "" || strings.Contains(rest, "@"):
		return url
	case strings.Contains(scheme, "sentinel"):
		return url + "&username=" + user + "&password=" + user
	}
	return scheme + "://" + user + ":" + user + "@" + rest
}

// reportRefused fails the test when a user tried what it may not. It runs before the server
// ends.
func (d *daemon) reportRefused(t testing.TB) {
	t.Helper()
	if serviceUser() == "" || d.cmd == nil || dial(context.Background(), d.addr()) != nil {
		return
	}
	client := d.client()
	defer client.Close()
	entries, err := client.ACLLog(context.Background(), -1).Result()
	if err != nil {
		return // of a Sentinel, which has no users
	}
	for _, e := range entries {
		t.Errorf("redistest: %s was refused %s (%s, %s)", e.Username, e.Object, e.Reason, e.Context)
	}
	if err := client.ACLLogReset(context.Background()).Err(); err != nil {
		t.Errorf("redistest: %v", err)
	}
}

// asTest has the commands of the test itself run as the default user.
func asTest(t testing.TB, conn *redisx.Conn, url string) {
	t.Helper()
	if serviceUser() == "" {
		return
	}
	all, err := redisx.Open(t.Context(), redisx.Options{URL: withoutUser(url)})
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(func() { _ = all.Close() })
	conn.Client().AddHook(testHook{all.Client()})
}

func withoutUser(url string) string {
	user := serviceUser()
	return strings.NewReplacer(user+":"+user+"@", "", "&username="+user+"&password="+user, "").Replace(url)
}

// testHook sends the commands of tests to another client.
type testHook struct{ all redis.UniversalClient }

func (testHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h testHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if isOfTest() {
			return h.all.Process(ctx, command)
		}
		return next(ctx, command)
	}
}

func (h testHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		if !isOfTest() || commands[0].Name() == "multi" {
			return next(ctx, commands)
		}
		pipe := h.all.Pipeline()
		for _, command := range commands {
			_ = pipe.Process(ctx, command)
		}
		_, err := pipe.Exec(ctx)
		return err
	}
}

const (
	module     = "ushuru/"
	maxFrames  = 100
	fileOfTest = "_test.go"
)

// isOfTest reports whether a test is the one that sends a command: the innermost function of
// this repository, but for those between it and the client, is in the file of a test. What
// only an operator does, a test that is no operator's does to prepare.
func isOfTest() bool {
	between := []string{"pkg/redisx.", "pkg/redisx/redistest.", "pkg/lua."}
	if serviceUser() != "api" {
		between = append(between, "pkg/keys.", "pkg/operate.")
	}
	callers := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)]) //nolint:mnd // not of runtime, nor this one
	for {
		frame, more := frames.Next()
		name, ours := strings.CutPrefix(frame.Function, module)
		isBetween := slices.ContainsFunc(between, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if ours && !isBetween {
			return strings.HasSuffix(frame.File, fileOfTest)
		}
		if !more {
			return false
		}
	}
}
