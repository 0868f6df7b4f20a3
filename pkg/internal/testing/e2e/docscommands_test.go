package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/demo"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// In the documents a block marked sh is run by this test, all blocks of a
// document in one shell, against a demo that is started once. A block marked
// console is not run, because it needs the world, a server's configuration or
// a long time: of its lines only the commands and flags of ushuru are checked.

// Addresses that the documents give to the demo, and the test replaces.
const (
	documentedAPI  = "127.0.0.1:8080"
	documentedSite = "127.0.0.1:8090"
)

// programPath returns the path of the program, which is also this test.
func programPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ushuru")
	must(t, err)
	return path
}

// TestCommandsOfTheDocuments runs the documents against one demo, and then looks
// at what that has left in Redis.
func TestCommandsOfTheDocuments(t *testing.T) {
	t.Parallel()
	shell, curl := testenv.Binary(t, "sh"), testenv.Binary(t, "curl")
	conn := openRedis(t)
	d, err := demo.Start(t.Context(), demo.Options{Redis: conn, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	s := &session{
		shell:     shell,
		addresses: strings.NewReplacer("http://"+documentedAPI, d.URL, "http://"+documentedSite, d.Site),
		env:       append(os.Environ(), "PATH="+toolbox(t, programPath(t), curl), "USHURU_KEY="+d.Key, "USHURU_URL="+d.URL),
	}
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		texts := testenv.Documents(t)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			script := scriptOf(texts[name])
			if found := world.FindString(script); found != "" {
				t.Errorf("%s: a block with %q is to be marked console, not sh", name, found)
			} else if script != "" {
				t.Run(name, func(t *testing.T) { s.run(t, script) })
			}
		}
		t.Run("shape of the README's answer", func(t *testing.T) { checkAnswer(t, s) })
		t.Run("keys in Redis", func(t *testing.T) { checkKeys(t, conn) })
	})
}

// world is what a block of commands must not do here: call these tests, or what
// the machine may not have.
var world = regexp.MustCompile(`(?m)^\s*(go|make|docker|golangci-lint|redis-server|sudo|git|apt-get|systemctl|kubectl)\b`)

// openRedis returns a connection to a real Redis where one is installed, else
// to the embedded one.
func openRedis(t *testing.T) *redisx.Conn {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return redistest.Open(t, redistest.Start(t).URL)
	}
	conn := redistest.Embedded(t)
	return conn
}

// session is what a reader has who tries the documents.
type session struct {
	shell     string
	addresses *strings.Replacer // of the demo, for those of the documents
	env       []string
}

// run runs a script and returns what it prints.
func (s *session) run(t *testing.T, script string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, s.shell, "-eu", "-c", s.addresses.Replace(script))
	command.Dir = t.TempDir()
	command.WaitDelay = time.Second
	command.Env = s.env
	var log bytes.Buffer
	command.Stderr = &log
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, &log)
	}
	return out
}

// toolbox returns a PATH with the program, and with a curl that fails when the
// answer is an error.
func toolbox(t *testing.T, ushuru, curl string) string {
	t.Helper()
	dir := t.TempDir()
	strict := fmt.Sprintf("#!/bin/sh\nexec %s --fail-with-body --show-error --max-time 40 \"$@\"\n", curl)
	if err := os.WriteFile(filepath.Join(dir, "curl"), []byte(strict), 0o700); err != nil {
		t.Fatal(err)
	}
	return strings.Join([]string{dir, filepath.Dir(ushuru), os.Getenv("PATH")}, string(os.PathListSeparator))
}

// scriptOf joins the sh blocks of a document. Each prints its line first, so
// that a failure can be found.
func scriptOf(document string) string {
	var script strings.Builder
	for _, b := range testenv.Blocks(document) {
		if b.Language == "sh" {
			fmt.Fprintf(&script, "echo; echo '--- line %d'\n%s\n", b.Line, b.Text)
		}
	}
	return script.String()
}

var (
	inlineCode    = regexp.MustCompile("`([^`\n]+)`")
	ushuruCommand = regexp.MustCompile(`(?:^|[;&|(] *|\$ )(ushuru|go run \.(?:/pkg/lab)?) ((?:[a-z]+ ?){1,2})([^|;\n#]*)`)
	longFlag      = regexp.MustCompile(`--([a-z][a-z-]*)`)
)

// Commands that are not run, in blocks and in the text, exist and have the flags
// that they are shown with.
func TestCommandsThatAreNotRunExist(t *testing.T) {
	t.Parallel()
	help := map[string]string{}
	for name, document := range testenv.Documents(t) {
		for _, b := range testenv.Blocks(document) {
			if b.Language == "console" {
				t.Logf("%s:%d is not run", name, b.Line)
				for line := range strings.Lines(strings.ReplaceAll(b.Text, "\\\n", " ")) {
					checkCommand(t, fmt.Sprintf("%s:%d", name, b.Line), line, help)
				}
			}
		}
		for _, found := range inlineCode.FindAllStringSubmatch(testenv.Prose(document), -1) {
			checkCommand(t, name, found[1], help)
		}
	}
}

// checkCommand checks the commands of ushuru and of the laboratory in a line.
func checkCommand(t *testing.T, where, line string, help map[string]string) {
	t.Helper()
	for _, found := range ushuruCommand.FindAllStringSubmatch(line, -1) {
		program := "ushuru"
		if strings.HasSuffix(found[1], "lab") {
			program = "lab"
		}
		shown := helpOf(t, program, strings.Fields(found[2]), help)
		if shown == "" {
			t.Errorf("%s: there is no command %s %s", where, program, found[2])
		}
		for _, flag := range longFlag.FindAllStringSubmatch(found[3], -1) {
			if !strings.Contains(shown, "--"+flag[1]) && !strings.Contains(shown, "--[no-]"+flag[1]) {
				t.Errorf("%s: %s %s has no flag --%s", where, program, found[2], flag[1])
			}
		}
	}
}

// helpOf returns what a command says of itself; "" when there is none of that
// name. The second word may be an argument.
func helpOf(t *testing.T, program string, words []string, known map[string]string) string {
	t.Helper()
	name := program + " " + strings.Join(words, " ")
	if _, has := known[name]; !has {
		known[name] = ""
		for n := len(words); n > 0 && known[name] == ""; n-- {
			out, err := exec.CommandContext(t.Context(), program, append(slices.Clone(words[:n]), "--help")...).Output()
			if err == nil && len(out) > 0 {
				known[name] = string(out)
			}
		}
	}
	return known[name]
}

// checkAnswer compares the answer that the README shows with the demo's.
func checkAnswer(t *testing.T, s *session) {
	t.Helper()
	var request, shown string
	for _, b := range testenv.Blocks(testenv.Document(t, "README.md")) {
		switch {
		case b.Language == "sh" && strings.Contains(b.Text, "/v1/estimate") && request == "":
			request = b.Text
		case b.Language == "json" && shown == "":
			shown = b.Text
		}
	}
	out := s.run(t, request)
	var documented, answer any
	if err := json.Unmarshal([]byte(shown), &documented); err != nil {
		t.Fatalf("the README's answer: %v", err)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("the demo's answer: %v\n%s", err, out)
	}
	compareShape(t, "", documented, answer)
}

const ellipsis = "…"

// compareShape compares what a document shows of an answer with the answer:
// an object has the same fields, unless one of them is an ellipsis, and a list
// holds what is shown of it.
func compareShape(t *testing.T, path string, shown, got any) {
	t.Helper()
	switch shown := shown.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s is shown as an object and is %v", path, got)
			return
		}
		for name, value := range shown {
			if name == ellipsis {
				continue
			}
			if _, has := object[name]; !has {
				t.Errorf("%s.%s is shown, and the answer has none", path, name)
				continue
			}
			compareShape(t, path+"."+name, value, object[name])
		}
		if _, shortened := shown[ellipsis]; shortened {
			return
		}
		for name := range object {
			if _, has := shown[name]; !has {
				t.Errorf("%s.%s is not shown, and no ellipsis either", path, name)
			}
		}
	case []any:
		compareList(t, path, shown, got)
	case string:
		if _, ok := got.(string); !ok && shown != ellipsis {
			t.Errorf("%s is shown as %q and is %v", path, shown, got)
		}
	default:
		if fmt.Sprintf("%T", shown) != fmt.Sprintf("%T", got) {
			t.Errorf("%s is shown as %v and is %v", path, shown, got)
		}
	}
}

// compareList compares elements that have a code with those of the same code,
// and others with the one in their place.
func compareList(t *testing.T, path string, shown []any, got any) {
	t.Helper()
	list, ok := got.([]any)
	if !ok {
		t.Errorf("%s is shown as a list and is %v", path, got)
		return
	}
	for i, element := range shown {
		if element == ellipsis {
			continue
		}
		at := slices.IndexFunc(list, func(other any) bool { return codeOfElement(other) == codeOfElement(element) })
		if codeOfElement(element) == "" && i < len(list) {
			at = i
		}
		if at < 0 {
			t.Errorf("%s: the answer has no element like %v", path, element)
			continue
		}
		compareShape(t, fmt.Sprintf("%s[%d]", path, i), element, list[at])
	}
}

func codeOfElement(element any) string {
	object, _ := element.(map[string]any)
	value, _ := object["code"].(string)
	return value
}

// checkKeys looks at every key that is in Redis after the documents' commands.
func checkKeys(t *testing.T, conn *redisx.Conn) {
	t.Helper()
	listed := testenv.RedisKeys(t)
	keys, err := conn.Client().Keys(t.Context(), "*").Result()
	if err != nil || len(keys) == 0 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	for _, key := range keys {
		at := slices.IndexFunc(listed, func(k testenv.RedisKey) bool { return k.Matches(key) })
		if at < 0 {
			t.Errorf("the key %s is in Redis, and architecture.md does not list it", key)
			continue
		}
		kind, err := conn.Client().Type(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Replace(kind, "zset", "sorted set", 1)
		if kind != "none" && !strings.Contains(listed[at].Kind, name) && listed[at].Pattern != "asynq:…" {
			t.Errorf("the key %s is a %s, and architecture.md calls it %q", key, name, listed[at].Kind)
		}
	}
}
