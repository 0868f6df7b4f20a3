package tasks

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

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
