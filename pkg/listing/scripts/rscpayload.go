package scripts

import (
	"encoding/json"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/page"
)

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
