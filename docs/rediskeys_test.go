package docs

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

var (
	// keyPrefix is a string that can begin a key in Redis, or be one. Fields of
	// a hash have one letter before the colon.
	keyPrefix = regexp.MustCompile(`^[a-z]{2,}:[a-zA-Z0-9:{}%.-]*$`)

	// documentedKey is a key as architecture.md names it.
	documentedKey = regexp.MustCompile("`(\\{?[a-z]{2,}:[^`]*)`")
)

// Every key of Redis that the code can make is in architecture.md, and
// every key that is there is one that the code makes.
func TestArchitectureListsTheKeysOfRedis(t *testing.T) {
	t.Parallel()
	var documented []string
	inCode := prefixesInCode(t)
	for _, key := range testenv.RedisKeys(t) {
		if strings.HasPrefix(key.Pattern, "{") { // the code makes it of another key, which is its hash tag
			continue
		}
		documented = append(documented, fixedPart(key.Pattern))
	}
	for prefix, where := range inCode {
		if !slices.ContainsFunc(documented, func(key string) bool { return strings.HasPrefix(key, prefix) }) {
			t.Errorf("%s makes the key %s…, which architecture.md does not list", where, prefix)
		}
	}
	for _, key := range documented {
		known := key == "asynq:" // the keys of the library
		for prefix := range inCode {
			known = known || strings.HasPrefix(key, prefix) || strings.HasPrefix(prefix, key)
		}
		if !known {
			t.Errorf("architecture.md lists the key %s…, which no code makes", key)
		}
	}
}

// fixedPart is a key up to the part that varies.
func fixedPart(key string) string {
	if at := strings.IndexAny(key, "<…"); at >= 0 {
		key = key[:at]
	}
	return key
}

// prefixesInCode returns the beginnings of keys with their files: the
// strings of that form in packages that use Redis.
func prefixesInCode(t *testing.T) map[string]string {
	t.Helper()
	files := sources(t)
	usesRedis := map[string]bool{}
	for _, source := range files {
		for _, spec := range source.file.Imports {
			value, _ := text(spec.Path)
			if strings.HasPrefix(value, "github.com/redis/") || strings.HasPrefix(value, "github.com/go-redis/") {
				usesRedis[path.Dir(source.path)] = true
			}
		}
	}
	usesRedis["pkg/cache"] = true
	usesRedis["tasks"] = false // these are types of tasks
	prefixes := map[string]string{}
	for _, source := range files {
		dir := path.Dir(source.path)
		keysOfRedisx := source.path == "pkg/redisx/check.go" || source.path == "pkg/redisx/canary.go"
		addresses := dir == "pkg/redisx" && !keysOfRedisx || dir == "pkg/cli"
		if !usesRedis[dir] || rig.MatchString(dir) || addresses {
			continue // these know addresses, not keys
		}
		ast.Inspect(source.file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Type") {
				return false // of a task
			}
			if value, ok := text(node); ok && keyPrefix.MatchString(value) {
				prefix, _, _ := strings.Cut(value, "%")
				prefixes[prefix] = source.path
			}
			return true
		})
	}
	return prefixes
}

// Every type of task is in architecture.md, and every type there is in the
// code, with its timeout.
func TestArchitectureListsTheTasks(t *testing.T) {
	t.Parallel()
	document := read(t, "architecture.md")
	_, table, _ := strings.Cut(document, "\n## Tasks and queues\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for row := range strings.Lines(table) {
		for _, found := range documentedKey.FindAllStringSubmatch(row, -1) {
			policy, ok := tasks.PolicyOf(found[1])
			if timeout := fmt.Sprintf(" %.0f s ", policy.Timeout.Seconds()); found[1] != webhook.TypeDeliver &&
				(!ok || !strings.Contains(row, timeout)) {
				t.Errorf("architecture.md lists the task %s in %q; the code has it %v, with a timeout of%s", found[1], row, ok, timeout)
			}
		}
	}
	for _, source := range sources(t) {
		ast.Inspect(source.file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if !strings.HasPrefix(name.Name, "Type") || i >= len(spec.Values) {
					continue
				}
				if value, _ := text(spec.Values[i]); keyPrefix.MatchString(value) && !strings.Contains(document, "`"+value+"`") {
					t.Errorf("%s has the task %s, which architecture.md does not list", source.path, value)
				}
			}
			return true
		})
	}
}
