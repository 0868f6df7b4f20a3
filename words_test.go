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
	"slices"
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

// exempt are names that callers, operators and Redis know; they do not change.
var exempt = []string{":twins", ":atwork", "inflight:"}

// notRead are files whose words are not ours: fixed inputs and this table.
var notRead = regexp.MustCompile(`(^|/)(testdata/|\.git/|words_test\.go$)`)

// TestOldWordsDoNotComeBack reads every identifier that is declared, every
// comment and every text of the Go code, and the documents.
func TestOldWordsDoNotComeBack(t *testing.T) {
	counts := map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || notRead.MatchString(filepath.ToSlash(path)) {
			return err
		}
		found, err := oldWordsOf(path)
		for _, f := range found {
			counts[filepath.Dir(path)]++
			if os.Getenv("WORDS_COUNT") == "" {
				t.Log(f)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("WORDS_COUNT") != "" {
		for dir, n := range counts {
			t.Log(n, dir)
		}
	}
}

// oldWordsOf returns what is wrong in a file, if it is one that people read.
func oldWordsOf(path string) ([]string, error) {
	switch {
	case strings.HasSuffix(path, ".go"):
		return oldWordsOfGo(path)
	case strings.HasSuffix(path, ".md"), strings.HasSuffix(path, "openapi.yaml"):
		data, err := os.ReadFile(path)
		var found []string
		for i, line := range strings.Split(string(data), "\n") {
			found = append(found, oldWordsIn(fmt.Sprintf("%s:%d", path, i+1), line)...)
		}
		return found, err
	}
	return nil, nil
}

func oldWordsOfGo(path string) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(position token.Pos) string {
		p := files.Position(position)
		return fmt.Sprintf("%s:%d", p.Filename, p.Line)
	}
	check := func(position token.Pos, text string) { found = append(found, oldWordsIn(at(position), text)...) }
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
			check(n.Name.Pos(), wordsOfName(n.Name.Name))
		case *ast.TypeSpec:
			check(n.Name.Pos(), wordsOfName(n.Name.Name))
		case *ast.ValueSpec:
			for _, name := range n.Names {
				check(name.Pos(), wordsOfName(name.Name))
			}
		case *ast.Field:
			for _, name := range n.Names {
				check(name.Pos(), wordsOfName(name.Name))
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					check(name.Pos(), wordsOfName(name.Name))
				}
			}
		}
		return true
	})
	return found, nil
}

var oldWord = compileOldWords()

func compileOldWords() *regexp.Regexp {
	var all []string
	for _, w := range oldWords {
		all = append(all, w.old)
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)\b`)
}

func oldWordsIn(at, text string) (found []string) {
	for _, name := range exempt {
		text = strings.ReplaceAll(text, name, "")
	}
	for _, old := range oldWord.FindAllString(text, -1) {
		i := slices.IndexFunc(oldWords, func(w struct{ old, use string }) bool {
			return regexp.MustCompile(`(?i)^(` + w.old + `)$`).MatchString(old)
		})
		found = append(found, fmt.Sprintf("%s: %q; instead: %s", at, old, oldWords[i].use))
	}
	return found
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
