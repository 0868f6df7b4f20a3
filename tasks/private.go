package tasks

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/listing/sites"
)

// For returns the input as an API key requests it. What one caller sent, or reads
// with a token in the URL, says nothing about the site to others: its job and its
// results are that key's alone.
func (i EstimateInput) For(owner string) EstimateInput {
	if i.Page != "" || isPrivate(i.URL) {
		i.Owner = owner
	}
	return i
}

// For returns the input as an API key requests it, as that of an estimate.
func (i ReportInput) For(owner string) ReportInput {
	if i.Upload != "" || isPrivate(i.URL) {
		i.Owner = owner
	}
	return i
}

// For returns the input as an API key requests it, as that of an estimate.
func (i CompareInput) For(owner string) CompareInput {
	if isPrivate(i.URL1) || isPrivate(i.URL2) {
		i.Owner = owner
	}
	return i
}

// IsFor reports whether an API key may see a job, if it knows its id: every key the
// job of an input that all keys share.
func IsFor(job *jobs.Job, owner string) bool {
	var input struct {
		Owner string `json:"owner"`
	}
	return json.Unmarshal(job.Input, &input) == nil && (input.Owner == "" || input.Owner == owner)
}

// PagesOf returns the URLs of a job's input in one line, for the operator, without those
// that carry a token.
func PagesOf(job *jobs.Job) string {
	return strings.Join(slices.DeleteFunc(URLsOf(job), isPrivate), " ")
}

// URLsOf returns the URLs of a job's input.
func URLsOf(job *jobs.Job) []string {
	var input struct {
		URL  string `json:"url"`
		URL1 string `json:"url1"`
		URL2 string `json:"url2"`
	}
	_ = json.Unmarshal(job.Input, &input)
	switch {
	case input.URL1 != "":
		return []string{input.URL1, input.URL2}
	case input.URL != "":
		return []string{input.URL}
	}
	return nil
}

// Key returns the cache key of the comparison: of the pair and the language. On other terms
// it is made again of what is cached.
func (i CompareInput) Key() cache.Key {
	return cache.OwnedKey(cache.CompareKey(i.URL1, i.URL2, i.Lang), i.Owner)
}

// isPrivate reports whether a URL carries what looks like a token. The ids in the
// paths of known sites are public.
func isPrivate(rawURL string) bool {
	if rawURL == "" {
		return false
	}
	u, err := url.Parse(rawURL)
	return err != nil || hasTokenInQuery(u) || sites.NameOf(u.Hostname()) == "" && hasTokenInPath(u)
}

// tokenNames are words of parameters whose value lets its holder in.
var tokenNames = map[string]bool{
	"session": true, "sessionid": true, "sess": true, "sid": true, "phpsessid": true, "jsessionid": true, "aspsessionid": true,
	"token": true, "accesstoken": true, "authtoken": true, "csrf": true, "xsrf": true, "nonce": true, "ticket": true, "otp": true,
	"sig": true, "signature": true, "sign": true, "signed": true, "hmac": true, "hash": true, "policy": true, "credential": true,
	"key": true, "apikey": true, "secret": true, "auth": true, "authorization": true, "bearer": true, "jwt": true, "oauth": true,
	"password": true, "passwd": true, "passcode": true, "pass": true, "pwd": true, "pin": true, "user": true, "login": true,
	"email": true, "expires": true, "invite": true, "share": true, "private": true,
}

// hasTokenInQuery reports whether the query of a URL carries what looks like a token.
func hasTokenInQuery(u *url.URL) bool {
	for part := range strings.FieldsFuncSeq(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		if hasTokenInParameter(part) {
			return true
		}
	}
	return false
}

// hasTokenInPath reports whether the path of a URL carries what looks like a token. The
// random ids of a site's listings look like one too.
func hasTokenInPath(u *url.URL) bool {
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		for i, part := range strings.Split(segment, ";") {
			if i > 0 && hasTokenInParameter(part) || isRandom(unescape(part)) {
				return true
			}
		}
	}
	return false
}

func hasTokenInParameter(part string) bool {
	name, value, has := strings.Cut(part, "=")
	if !has {
		return isRandom(unescape(name))
	}
	return value != "" && isTokenName(unescape(name)) || isRandom(unescape(value))
}

func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// separators are what words of a name may be joined by.
var separators = strings.NewReplacer("-", "", "_", "", ".", "")

// isTokenName reports whether a parameter's name, or a word of it, is one of tokenNames:
// X-Amz-Signature, accessToken, PHPSESSID.
func isTokenName(name string) bool {
	if tokenNames[strings.ToLower(separators.Replace(name))] {
		return true
	}
	for _, word := range splitName(name) {
		if tokenNames[strings.ToLower(word)] {
			return true
		}
	}
	return false
}

// splitName splits a name at what is not a letter, and before an upper-case letter
// that follows a lower-case one.
func splitName(name string) (list []string) {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		begin, lower := 0, false
		for i, r := range part {
			if lower && unicode.IsUpper(r) {
				list, begin = append(list, part[begin:i]), i
			}
			lower = unicode.IsLower(r)
		}
		list = append(list, part[begin:])
	}
	return list
}

// longWord is a word in a run of letters: ToyotaCorollaFielder has three.
var longWord = regexp.MustCompile(`[A-Z]?[a-z]{4,}`)

var uuidPattern = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

const (
	minRandom = 20 // characters; 20 random hexadecimal digits are 80 bits
	minPlain  = 40 // characters without a separator: longer than a word or an id
)

// isRandom reports whether a text has a part that looks random: a UUID, or a run of
// at least 20 letters and digits whose kind (upper case, lower case, digit) changes
// more often than in words, names and ids.
func isRandom(text string) bool {
	if len(text) < minRandom {
		return false
	}
	if uuidPattern.MatchString(text) {
		return true
	}
	// A token may contain - and _, one in 32 characters; the words of a title have
	// more of them.
	separator := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	runs := strings.FieldsFunc(text, separator)
	if len(runs)-1 <= len(text)/8 {
		runs = append(runs, strings.Join(runs, ""))
	}
	for _, run := range runs {
		rest := len(longWord.ReplaceAllString(run, ""))
		if len(run) >= minRandom && rest >= minRandom/2 && (kindChanges(run) >= len(run)/6 || len(run) >= minPlain) {
			return true
		}
	}
	return false
}

// kindChanges counts how often the kind of the characters changes. A capital before
// small letters, as in a name, is no change.
func kindChanges(text string) (n int) {
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 1
		case c >= 'A' && c <= 'Z':
			return 2
		}
		return 3
	}
	for i := 1; i < len(text); i++ {
		if before, now := kind(text[i-1]), kind(text[i]); before != now && (before != 2 || now != 3) {
			n++
		}
	}
	return n
}
