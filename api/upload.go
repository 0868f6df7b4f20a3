package api

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// maxPage is for a listing page. The largest that was seen has 600 KB.
	maxPage = 4 << 20
	// maxFile is for an image or a PDF. A phone's best photograph has ten megabytes.
	maxFile = 12 << 20
	// maxEstimateBody allows for the escapes of a page in JSON.
	maxEstimateBody = 2 * maxPage
)

// pageHash returns the hash of the page that a request contains, and of the visitor who
// sent it. It is empty when there is no page.
func pageHash(sender string, page *string) (string, error) {
	switch {
	case page == nil:
		return "", nil
	case len(*page) > maxPage:
		return "", errPageTooLarge
	case strings.TrimSpace(*page) == "":
		return "", errPageEmpty
	}
	if sender != "" {
		return contentHash(sender + "\n" + *page), nil
	}
	return contentHash(*page), nil
}

// attachedPage returns the page of a request for the worker; nil when it has none.
func attachedPage(page *string) []byte {
	if page == nil {
		return nil
	}
	return []byte(*page)
}

// contentHash identifies what a caller sent.
func contentHash[T string | []byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}
