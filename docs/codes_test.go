package docs

import (
	"go/ast"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/message"
)

// statusNumbers are the names of net/http that the API answers with.
var statusNumbers = map[string]int{
	"StatusBadRequest": 400, "StatusUnauthorized": 401, "StatusForbidden": 403, "StatusNotFound": 404,
	"StatusMethodNotAllowed": 405, "StatusConflict": 409, "StatusGone": 410, "StatusRequestEntityTooLarge": 413,
	"StatusUnsupportedMediaType": 415, "StatusUnprocessableEntity": 422, "StatusTooManyRequests": 429,
	"StatusInternalServerError": 500, "StatusServiceUnavailable": 503, "StatusGatewayTimeout": 504,
}

// found is a code that a caller can get, and its place.
type found struct {
	status int // 0: not said in this place
	where  string
}

// Every code that the API can answer with is in the table of api.md, with
// its status.
func TestAPIDocumentListsTheErrors(t *testing.T) {
	t.Parallel()
	table := rows(read(t, "api.md"), "## Errors")
	for code, f := range errorCodes(t) {
		statuses, listed := table[code]
		switch {
		case !listed:
			t.Errorf("%s answers with the code %s, which api.md does not list", f.where, code)
		case f.status != 0 && !strings.Contains(statuses, strconv.Itoa(f.status)):
			t.Errorf("api.md lists %s with %q, and %s has %d", code, statuses, f.where, f.status)
		}
	}
}

// Every code of a warning, a cost line and a missing cost is in
// estimate.md.
func TestEstimateDocumentListsTheWarnings(t *testing.T) {
	t.Parallel()
	document := read(t, "estimate.md")
	for code, where := range warningCodes(t) {
		if !strings.Contains(document, "`"+code+"`") {
			t.Errorf("%s has the code %s, which estimate.md does not list", where, code)
		}
	}
	lines := regexp.MustCompile(`(?m)^\s*"code": "([a-z_]+)"`)
	for _, match := range lines.FindAllStringSubmatch(read(t, root+"/pkg/cost/tables.json"), -1) {
		if !strings.Contains(document, "`"+match[1]+"`") {
			t.Errorf("pkg/cost/tables.json has the line %s, which estimate.md does not list", match[1])
		}
	}
}

// rows returns the rows of the tables under a heading: the codes of the first
// cells, with the second cell.
func rows(document, heading string) map[string]string {
	_, section, _ := strings.Cut(document, "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	table := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, match := range code.FindAllStringSubmatch(cells[1], -1) {
			table[match[1]] = cells[2]
		}
	}
	return table
}

// errorCodes returns the codes of errors: those of the table of texts, and those that
// the API refuses a request with, with their status.
func errorCodes(t *testing.T) map[string]found {
	t.Helper()
	codes := map[string]found{}
	for _, key := range message.Keys("error") {
		codes[message.CodeOf(key)] = found{0, "the table of texts"}
	}
	for _, source := range sources(t) {
		ast.Inspect(source.file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) != 3 {
				return true
			}
			if name, _ := call.Fun.(*ast.Ident); name != nil && name.Name == "refuse" {
				status, _ := call.Args[0].(*ast.SelectorExpr)
				key, said := text(call.Args[1])
				if status != nil && said {
					codes[message.CodeOf(key)] = found{statusNumbers[status.Sel.Name], source.path}
				}
			}
			return true
		})
	}
	return codes
}

// warningCodes returns the codes of the warnings that an estimate can carry.
func warningCodes(t *testing.T) map[string]string {
	t.Helper()
	codes := map[string]string{}
	for _, key := range message.Keys("warning") {
		codes[strings.TrimSuffix(message.CodeOf(key), ":detail")] = "the table of texts"
	}
	for _, source := range sources(t) {
		ast.Inspect(source.file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && !rig.MatchString(source.path) {
				for i, name := range spec.Names {
					if strings.HasPrefix(name.Name, "Warn") && i < len(spec.Values) {
						value, _ := text(spec.Values[i])
						codes[value] = source.path
					}
				}
			}
			return true
		})
	}
	return codes
}

// key is how a key of the table of texts looks.
var key = regexp.MustCompile(`^(adjustment|error|frame|match|outage|signal|unfit|warning|why)/[a-z_.]*[a-z_]$`)

// Every key of a text in the code is in the table.
func TestTheTextsOfTheCodeAreInTheTable(t *testing.T) {
	t.Parallel()
	for _, source := range sources(t) {
		ast.Inspect(source.file, func(node ast.Node) bool {
			literal, _ := node.(*ast.BasicLit)
			if literal == nil {
				return true
			}
			if value, _ := text(literal); key.MatchString(value) {
				if _, known := message.ValueNames(value); !known {
					t.Errorf("%s: the table has no text %s", source.path, value)
				}
			}
			return true
		})
	}
}
