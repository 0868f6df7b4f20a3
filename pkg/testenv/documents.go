package testenv

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Documents returns the text of README.md and of every document in docs, by its path from
// the root of the repository.
func Documents(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob(InRepository(t, "docs", "*.md"))
	if err != nil || len(names) == 0 {
		t.Fatalf("documents %v, %v", names, err)
	}
	texts := map[string]string{"README.md": Document(t, "README.md")}
	for _, name := range names {
		path := filepath.Join("docs", filepath.Base(name))
		texts[path] = Document(t, path)
	}
	return texts
}

// Document returns the text of a file of the repository, by its path from the root.
func Document(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(InRepository(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Block is a fenced block of a document.
type Block struct {
	Language string
	Line     int // of its first line, from 1
	Text     string
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// Blocks returns the fenced blocks of a document in their order.
func Blocks(text string) []Block {
	all := fence.FindAllStringSubmatchIndex(text, -1)
	found := make([]Block, 0, len(all))
	for _, at := range all {
		found = append(found, Block{
			Language: text[at[2]:at[3]], Text: text[at[4]:at[5]], Line: 2 + strings.Count(text[:at[0]], "\n"),
		})
	}
	return found
}

// Prose returns a document without its fenced blocks.
func Prose(text string) string { return fence.ReplaceAllString(text, "") }

// RedisKey is a key of Redis as architecture.md lists it.
type RedisKey struct{ Pattern, Kind string }

var (
	// documentedKey is a key as architecture.md names it.
	documentedKey = regexp.MustCompile("`(\\{?[a-z]{2,}:[^`]*)`")

	// variable is a part of a key that varies, as architecture.md writes it.
	variable = regexp.MustCompile(`<[^>]*>`)
)

// RedisKeys returns the keys that architecture.md lists.
func RedisKeys(t testing.TB) (keys []RedisKey) {
	t.Helper()
	_, section, found := strings.Cut(Document(t, "docs/architecture.md"), "\n## Keys in Redis\n")
	if !found {
		t.Fatal(`architecture.md has no section "Keys in Redis"`)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 { //nolint:mnd // of a row with two columns
			continue
		}
		for _, match := range documentedKey.FindAllStringSubmatch(cells[1], -1) {
			keys = append(keys, RedisKey{match[1], cells[2]})
		}
	}
	return keys
}

// Matches reports whether a key in Redis is the documented one.
func (k RedisKey) Matches(key string) bool {
	pattern := variable.ReplaceAllString(regexp.QuoteMeta(strings.ReplaceAll(k.Pattern, "…", "<rest>")), "[^:]+")
	if prefix, open := strings.CutSuffix(k.Pattern, "…"); open {
		pattern = regexp.QuoteMeta(prefix) + ".+"
	}
	return regexp.MustCompile("^" + pattern + "$").MatchString(key)
}
