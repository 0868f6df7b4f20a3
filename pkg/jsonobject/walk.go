package jsonobject

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// Members returns the members of a JSON object that encoding/json has written, in their order
// and as they are written: the name between its quotation marks, and the value. It copies
// nothing.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for at := skipTo(object, 1); at < len(object) && object[at] == '"'; {
			colon := endOf(object, at)
			value := skipTo(object, colon)
			end := endOf(object, value)
			if end > len(object) || !yield(object[at+1:colon-1], object[value:end]) {
				return
			}
			at = skipTo(object, end)
		}
	}
}

// Elements returns the elements of a JSON array as Members returns the members of an object.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := skipTo(array, 1); at < len(array) && array[at] != ']'; {
			end := endOf(array, at)
			if end > len(array) || !yield(array[at:end]) {
				return
			}
			at = skipTo(array, end)
		}
	}
}

// Text returns the text at a path of names in a JSON object that encoding/json has written, ""
// where there is none.
func Text(object []byte, path ...string) (text string) {
	for _, name := range path {
		var found []byte
		for own, value := range Members(object) {
			if string(own) == name {
				found = value
				break
			}
		}
		object = found
	}
	_ = json.Unmarshal(object, &text) // what is no text is none
	return text
}

// skipTo returns where the next name or value begins: behind white space, a comma or a colon.
func skipTo(data []byte, at int) int {
	for at < len(data) && strings.IndexByte(" \t\r\n,:", data[at]) >= 0 {
		at++
	}
	return at
}

// endOf returns where the value that begins at a place ends; more than the length of the data
// when it is cut off.
func endOf(data []byte, at int) int {
	cut := len(data) + 1
	for depth := 0; at < len(data); {
		switch data[at] {
		case '"':
			at = endOfString(data, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		default:
			if depth > 0 {
				at++
				continue
			}
			if end := bytes.IndexAny(data[at:], ",}] \t\r\n"); end >= 0 {
				return at + end
			}
			return len(data)
		}
		if depth == 0 {
			return at
		}
	}
	return cut
}

// endOfString returns where the string that begins at a place ends: at the first quotation mark
// behind an even number of backslashes.
func endOfString(data []byte, at int) int {
	for end := at + 1; end < len(data); end++ {
		next := bytes.IndexByte(data[end:], '"')
		if next < 0 {
			break
		}
		end += next
		if before := bytes.TrimRight(data[at+1:end], `\`); (end-at-1-len(before))%2 == 0 {
			return end + 1
		}
	}
	return len(data) + 1
}
