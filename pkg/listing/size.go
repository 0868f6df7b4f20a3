package listing

import (
	"bytes"

	"golang.org/x/net/html"
)

// maxNodes bounds the tree of a page; a real listing has some 20,000 nodes.
const maxNodes = 1_000_000

// maxDepth is what html.Parse itself allows.
const maxDepth = 512

// formatting are the elements that HTML opens again, each time, where they were
// left open: with five hundred of them open, one letter makes five hundred
// nodes (WHATWG HTML, 13.2.4.3).
var formatting = map[string]bool{
	"b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "s": true,
	"small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

// checkSize refuses a page whose tree would be too large, before it is built.
// A count of tags clears nearly every page; only one with many formatting
// elements is gone through tag by tag.
func checkSize(body []byte) error {
	tags := bytes.Count(body, []byte("<"))
	if 2*tags > maxNodes {
		return unreadable(errTooManyTags)
	}
	if tags*(2+3*len(formatting)+min(withAttributes(body), maxDepth)) <= maxNodes {
		return nil
	}
	return countNodes(body)
}

// withAttributes counts formatting elements with attributes. Those without
// are opened again three times at most.
func withAttributes(body []byte) (count int) {
	for {
		at := bytes.IndexByte(body, '<')
		if at < 0 {
			return count
		}
		body = body[at+1:]
		end := 0
		for end < len(body) && end < 7 && (body[end]|0x20) >= 'a' && (body[end]|0x20) <= 'z' {
			end++
		}
		if end > 0 && end < len(body) && body[end] != '>' && formatting[string(bytes.ToLower(body[:end]))] {
			count++
		}
	}
}

// countNodes bounds the nodes of the tree by the tags and texts and the
// formatting elements open at each.
func countNodes(body []byte) error {
	tokens := html.NewTokenizer(bytes.NewReader(body))
	nodes, open := 0, 0
	for {
		kind := tokens.Next()
		switch kind {
		case html.ErrorToken:
			return nil // the end; html.Parse reports anything else
		case html.StartTagToken, html.EndTagToken:
			name, _ := tokens.TagName()
			if formatting[string(name)] && kind == html.StartTagToken {
				open++
			} else if formatting[string(name)] && open > 0 {
				open--
			}
		}
		if nodes += 1 + min(open, maxDepth); nodes > maxNodes {
			return unreadable(errTooManyTags)
		}
	}
}
