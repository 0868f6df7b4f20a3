// Package scripts reads the data that a page gives to its own scripts: JSON and the
// payload of React server components.
package scripts

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/money"
)

// Record is an object of the data that a page gives to its own script.
type Record struct {
	values map[string]any
	// rsc reports a value of an RSC payload, where a dollar sign marks a reference
	// and a text that begins with a dollar sign has two.
	rsc bool
}

// Bounds of the script data of one page.
const (
	maxRecords     = 5000 // rows
	maxFound       = 100
	maxRecordNodes = 200_000
	maxRecordDepth = 100
)

// Records returns the different objects of a page's script data (Next.js RSC
// payloads, application/json scripts) that have all the keys.
func Records(doc *page.Document, keys ...string) (found []Record) {
	search := recordSearch{keys: keys, left: maxRecordNodes, rsc: true}
	for _, value := range rscRows(rscPayload(doc)) {
		search.in(value, 0)
	}
	search.rsc = false
	for _, script := range doc.Tags[atom.Script] {
		if dom.Attr(script, "type") != "application/json" || script.FirstChild == nil ||
			len(script.FirstChild.Data) > maxPayload {
			continue
		}
		if value, ok := decodeScript(script.FirstChild.Data); ok {
			search.in(value, 0)
		}
	}
	return search.found
}

type recordSearch struct {
	keys  []string
	left  int // nodes that may still be visited
	rsc   bool
	found []Record
}

func (s *recordSearch) in(value any, depth int) {
	if s.left--; s.left < 0 || depth > maxRecordDepth {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			s.in(item, depth+1)
		}
	case map[string]any:
		again := func(r Record) bool { return r.same(v, s.keys) }
		if len(s.found) < maxFound && s.fits(v) && !slices.ContainsFunc(s.found, again) {
			s.found = append(s.found, Record{v, s.rsc})
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.in(v[key], depth+1)
		}
	}
}

func (s *recordSearch) fits(v map[string]any) bool {
	for _, key := range s.keys {
		if _, ok := v[key]; !ok {
			return false
		}
	}
	return true
}

// same reports whether v describes the same thing as r, by the keys.
func (r Record) same(v map[string]any, keys []string) bool {
	other := Record{v, r.rsc}
	for _, key := range keys {
		if r.Text(key) != other.Text(key) {
			return false
		}
	}
	return len(keys) > 0
}

// Text returns a text or a number, "" for anything else.
func (r Record) Text(key string) string {
	switch v := r.values[key].(type) {
	case json.Number:
		return v.String()
	case string:
		if r.rsc && strings.HasPrefix(v, "$") {
			rest, escaped := strings.CutPrefix(v, "$$")
			if !escaped {
				return "" // $undefined, or a reference to another row
			}
			v = "$" + rest
		}
		return claim.Clean(v)
	}
	return ""
}

// Is reports whether the value of a key is true, 1 or "1".
func (r Record) Is(key string) bool {
	return r.values[key] == true || r.Text(key) == "1"
}

// Claim claims the record's texts by a table of its keys.
func (r Record) Claim(c *claim.List, fields map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		c.Add(fields[key], r.Text(key))
	}
}

// Date joins year and month, "2014/7"; the year alone when there is no month.
func (r Record) Date(year, month string) string {
	y, m := r.Text(year), r.Text(month)
	if y == "" || m == "" || m == "0" {
		return y
	}
	return y + "/" + m
}

// OwnRecord returns the record that the page is about: the one whose key stands
// in the page's address, else the only one.
func OwnRecord(doc *page.Document, key string, all []Record) (Record, bool) {
	for _, r := range all {
		if own := r.Text(key); len(own) >= 3 && inAddress(doc, own) {
			return r, true
		}
	}
	if len(all) == 1 {
		return all[0], true
	}
	return Record{}, false
}

// inAddress reports a text that is a segment of the page's path or the value of
// a parameter.
func inAddress(doc *page.Document, s string) bool {
	for segment := range strings.SplitSeq(doc.URL.Path, "/") {
		if strings.EqualFold(segment, s) {
			return true
		}
	}
	for _, values := range doc.URL.Query() {
		if slices.Contains(values, s) {
			return true
		}
	}
	return false
}

// maxPayload bounds the script data of one page, in bytes.
const maxPayload = 8 << 20

// maxRowID is the maximum length of a row's id with its colon.
const maxRowID = 9

// rscPayload joins the chunks that a page of the Next.js App Router passes to
// self.__next_f.push([1,"…"]). They form one stream of rows; a chunk can end
// anywhere in a row.
func rscPayload(doc *page.Document) string {
	var stream strings.Builder
	for _, script := range doc.Tags[atom.Script] {
		if script.FirstChild == nil || stream.Len() > maxPayload {
			continue
		}
		_, call, found := strings.Cut(script.FirstChild.Data, "self.__next_f.push(")
		if !found {
			continue
		}
		var pushed []json.RawMessage
		if json.NewDecoder(strings.NewReader(call)).Decode(&pushed) != nil || len(pushed) < 2 {
			continue
		}
		var chunk string
		if json.Unmarshal(pushed[1], &chunk) == nil {
			stream.WriteString(chunk)
		}
	}
	return stream.String()
}

// rscRows decodes the rows of a stream that hold JSON objects or arrays.
// A row is an id in hexadecimal digits, a colon and its content up to the end
// of the line; a text row says its own length and has no end of line.
func rscRows(stream string) (values []any) {
	for stream != "" && len(values) < maxRecords {
		rest, ok := afterRowID(stream)
		if !ok {
			_, stream, _ = strings.Cut(stream, "\n")
			continue
		}
		if size, after, isText := textRow(rest); isText {
			stream = after[min(size, len(after)):]
			continue
		}
		row, after, _ := strings.Cut(rest, "\n")
		stream = after
		if strings.HasPrefix(row, "[") || strings.HasPrefix(row, "{") {
			if value, ok := decodeScript(row); ok {
				values = append(values, value)
			}
		}
	}
	return values
}

// afterRowID cuts an id and its colon from the front of a row.
func afterRowID(row string) (rest string, ok bool) {
	digits := strings.TrimLeft(row[:min(len(row), maxRowID)], "0123456789abcdef")
	at := min(len(row), maxRowID) - len(digits)
	if at == 0 || !strings.HasPrefix(digits, ":") {
		return "", false
	}
	return row[at+1:], true
}

// textRow reads the head of a text row: T, its bytes in hexadecimal, a comma.
func textRow(row string) (size int, after string, ok bool) {
	if !strings.HasPrefix(row, "T") {
		return 0, "", false
	}
	length, after, found := strings.Cut(row[1:], ",")
	n, err := strconv.ParseUint(length, 16, 31)
	return int(n), after, found && err == nil
}

// decodeScript decodes one JSON value and keeps numbers as written.
func decodeScript(s string) (value any, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(s))
	decoder.UseNumber()
	return value, decoder.Decode(&value) == nil
}

// shownInDollars reports whether the visible page writes an amount with a mark of
// US dollars. Script data often give a bare number; the same digits as part of
// another number, or without a mark, do not confirm it.
func shownInDollars(doc *page.Document, amount money.Number) bool {
	plain := amount.String()
	number := `(?:` + regexp.QuoteMeta(money.Grouped(plain)) + `|` + regexp.QuoteMeta(plain) + `)`
	shown := regexp.MustCompile(`(?i)(?:^|[^\p{L}\d])(?:US\$|USD|\$)\s*` + number + `(?:$|[^\d,.]|[,.](?:$|\D))|` +
		`(?:^|[^\d.,])` + number + `\s*USD(?:$|\P{L})`)
	return shown.MatchString(doc.Words())
}

// AddScriptPrice claims a price of script data. A price without currency is in
// dollars only when the page shows it in dollars.
func AddScriptPrice(c *claim.List, doc *page.Document, amount string) {
	p, ok := claim.ParsePrice(amount)
	switch {
	case !ok:
		c.Reject(claim.FieldPrice, amount, "not_one_amount")
	case p.Currency != "":
		c.Add(claim.FieldPrice, amount)
	case shownInDollars(doc, p.Amount):
		c.Add(claim.FieldPrice, "USD "+p.Amount.String())
	default:
		c.Reject(claim.FieldPrice, amount, "no_currency_shown")
	}
}
