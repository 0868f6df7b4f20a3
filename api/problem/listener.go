package problem

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// plainHeaders are all headers of such an error. No handler of ours responds with
// these alone.
const plainHeaders = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// versions are those of responses: one to a request of HTTP/1.0 is of it too.
var versions = []string{"HTTP/1.1", "HTTP/1.0"}

// problems has what net/http answers by itself, by the status.
var problems = map[int]*Problem{
	http.StatusBadRequest:                  BadRequest("malformed_request"),
	http.StatusExpectationFailed:           New(http.StatusExpectationFailed, "expectation_unsupported", nil),
	http.StatusRequestHeaderFieldsTooLarge: New(http.StatusRequestHeaderFieldsTooLarge, "header_too_large", nil),
	http.StatusNotImplemented:              New(http.StatusNotImplemented, "transfer_encoding_unsupported", nil),
	http.StatusHTTPVersionNotSupported:     New(http.StatusHTTPVersionNotSupported, "http_version_unsupported", nil),
}

// Translate returns the problem that replaces a plain-text error of net/http; nil for any other
// response. Before net/http calls a handler, it answers in plain text to a malformed request line,
// to a head that is too large, and to a version of HTTP that it does not speak.
func Translate(p []byte) []byte {
	version, rest, _ := bytes.Cut(p, []byte(" "))
	if !slices.Contains(versions, string(version)) {
		return nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\r\n"))
	number, _, _ := bytes.Cut(line, []byte(" "))
	status, err := strconv.Atoi(string(number))
	plain := bytes.HasPrefix(rest[len(line):], []byte(plainHeaders))
	// It answers an Expect that it does not know without a body.
	if err != nil || !plain && status != http.StatusExpectationFailed {
		return nil
	}
	said, known := problems[status]
	if !known {
		said = problems[http.StatusBadRequest]
	}
	answered := *said
	answered.Status, answered.Request = status, rand.Text()
	body, err := answered.Encode()
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "%s %d %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"X-Request-ID: %s\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\r\n%s",
		version, status, http.StatusText(status), len(body), answered.Request, body)
}
