package request

import (
	"encoding/json"
	"net/url"

	"ushuru/api/problem"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/plainjson"
)

// Bounds of the metadata of a request.
const (
	maxMetadataKeys  = 8
	maxMetadataBytes = 512
)

// Tags are what a caller gives to a request and finds in its job and the event of its end: words
// of its own, and which of its webhooks gets the event.
type Tags struct {
	Metadata map[string]string
	Webhook  string // its id
}

// TagFields are the fields of a body with the tags.
type TagFields struct {
	Metadata json.RawMessage `json:"metadata"`
	Webhook  json.RawMessage `json:"webhook"`
}

// ReadTags takes over the tags in the body of a request.
func (r *Request) ReadTags(body TagFields) (err error) {
	if r.Tags.Metadata, err = ParseMetadata(body.Metadata); err != nil || jsonobject.IsAbsent(body.Webhook) {
		return err
	}
	if json.Unmarshal(body.Webhook, &r.Tags.Webhook) != nil {
		return problem.Field("webhook", "text")
	}
	return nil
}

// ParseMetadata parses the metadata of a caller; nil without any.
func ParseMetadata(value json.RawMessage) (metadata map[string]string, err error) {
	if jsonobject.IsAbsent(value) {
		return nil, nil //nolint:nilnil // nil is none
	}
	size := 0
	if err = json.Unmarshal(value, &metadata); err == nil {
		for name, text := range metadata {
			size += len(name) + len(text)
		}
	}
	if err != nil || size > maxMetadataBytes || len(metadata) > maxMetadataKeys {
		return nil, problem.Field("metadata", "metadata", maxMetadataKeys, maxMetadataBytes).WithCause(err)
	}
	return metadata, nil
}

// SetQuery adds the tags to the query of a URL.
func (t Tags) SetQuery(query url.Values) {
	if len(t.Metadata) > 0 {
		if data, err := plainjson.Encode(t.Metadata); err == nil {
			query.Set("metadata", string(data))
		}
	}
	if t.Webhook != "" {
		query.Set("webhook", t.Webhook)
	}
}

// TagsOf returns the tags in the query of a URL.
func TagsOf(query url.Values) (t Tags, err error) {
	t.Webhook = query.Get("webhook")
	t.Metadata, err = ParseMetadata(json.RawMessage(query.Get("metadata")))
	return t, err
}
