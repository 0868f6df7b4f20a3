package main_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// oldWords are the words that the code, its comments, its messages and its
// documents do not use, with the word to use instead. An entry is a regular
// expression over whole words. docs/CONTRIBUTING.md says why.
var oldWords = []struct{ old, use string }{
	{`anew`, "again, or a new …"},
	{`at work`, "running"},
	{`attend(s|ed|ing)?`, "ensure"},
	{`begets?|begat|begot(ten)?`, "create"},
	{`flights?`, "dedup key, running job"},
	{`for good`, "permanently"},
	{`hand(s|ed|ing)? in`, "submit"},
	{`has it that`, "says that"},
	{`hungry`, "wake"},
	{`in vain`, "needlessly"},
	{`mend(s|ed|ing)?`, "recover, repair"},
	{`nobody|somebody`, "the actor: the caller, the worker, no process"},
	{`nudges?|nudged|nudging`, "enqueue, task payload"},
	{`of late`, "recently"},
	{`patience|patiently`, "timeout"},
	{`reckon(s|ed|ing)?`, "calculate"},
	{`shel(f|ves)`, "index"},
	{`told`, "notify; uses, goes by; message"},
	{`twins?`, "duplicate"},
	{`whoever`, "the actor: the caller, the worker, a process that"},
}

// exempt are names in Redis, which do not change while records use them.
var exempt = []string{":twins", ":atwork", "inflight:", `json:"flight"`, `"flight":`}

// exemptIn are words that are terms of a subject in some files: twins are models
// of two makes that share a chassis code.
var exemptIn = map[string]*regexp.Regexp{
	"twin":  regexp.MustCompile(`^(pkg/(listing|match|sheet)/|docs/matching\.md)`),
	"twins": regexp.MustCompile(`^(pkg/(listing|match|sheet)/|docs/matching\.md)`),
}

// notRead are files that are not checked: inputs of tests, the dictionary that
// never changes, and this table.
var notRead = regexp.MustCompile(`(^|/)(testdata/|\.git/|words_test\.go$|pkg/pack/common\.json$)`)

// isText matches files that people read, or whose texts they read.
var isText = regexp.MustCompile(`(\.md|/openapi\.yaml|^pkg/.*\.(csv|json))$`)

// TestOldWordsDoNotComeBack reads every declared identifier, every comment and
// every string of the Go code, the documents and the embedded texts.
func TestOldWordsDoNotComeBack(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == "node_modules" { // of api/clients
			return filepath.SkipDir
		}
		if path = filepath.ToSlash(path); err != nil || entry.IsDir() || notRead.MatchString(path) {
			return err
		}
		found, err := oldWordsOf(path)
		for _, f := range found {
			t.Error(f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// oldWordsOf returns the old words of a file, each with its place.
func oldWordsOf(path string) (found []string, err error) {
	if strings.HasSuffix(path, ".go") {
		return oldWordsOfGo(path)
	}
	if !isText.MatchString(path) {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		found = append(found, oldWordsIn(path, number, line)...)
	}
	return found, err
}

func oldWordsOfGo(path string) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	check := func(position token.Pos, text string) {
		found = append(found, oldWordsIn(path, files.Position(position).Line, text)...)
	}
	checkNames := func(names ...*ast.Ident) {
		for _, name := range names {
			check(name.Pos(), wordsOfName(name.Name))
		}
	}
	for _, group := range file.Comments {
		check(group.Pos(), strings.Join(strings.Fields(group.Text()), " "))
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				check(n.Pos(), n.Value)
			}
		case *ast.FuncDecl:
			checkNames(n.Name)
		case *ast.TypeSpec:
			checkNames(n.Name)
		case *ast.ValueSpec:
			checkNames(n.Names...)
		case *ast.Field:
			checkNames(n.Names...)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					checkNames(name)
				}
			}
		}
		return true
	})
	return found, nil
}

// oldWord matches any of the old words.
var oldWord = compileOldWords()

func compileOldWords() *regexp.Regexp {
	all := make([]string, len(oldWords))
	for i, w := range oldWords {
		all[i] = w.old
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)\b`)
}

func oldWordsIn(path string, line int, text string) (found []string) {
	for _, name := range exempt {
		text = strings.ReplaceAll(text, name, "")
	}
	for _, old := range oldWord.FindAllString(text, -1) {
		if in := exemptIn[strings.ToLower(old)]; in == nil || !in.MatchString(path) {
			found = append(found, fmt.Sprintf("%s:%d: %q; instead: %s", path, line, old, instead(old)))
		}
	}
	return found
}

// instead returns what to write for an old word.
func instead(old string) string {
	for _, w := range oldWords {
		if regexp.MustCompile(`(?i)^(` + w.old + `)$`).MatchString(old) {
			return w.use
		}
	}
	return ""
}

// wordsOfName splits an identifier: keyInFlight is "key In Flight".
func wordsOfName(name string) string {
	var b bytes.Buffer
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
