package estimates

import (
	"strings"

	"ushuru/api/receive"
)

const (
	// maxPage is for a listing page. The largest that was seen has 600 KB.
	maxPage = 4 << 20
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
		return receive.Hash(sender + "\n" + *page), nil
	}
	return receive.Hash(*page), nil
}

// attachedPage returns the page of a request for the worker; nil when it has none.
func attachedPage(page *string) []byte {
	if page == nil {
		return nil
	}
	return []byte(*page)
}
