package aitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// check reads a request as strictly as the real API does.
func (s *Simulator) check(r *http.Request, body []byte) (*chatRequest, *apiError) {
	if wrong := s.checkKey(r); wrong != nil {
		return nil, wrong
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" {
		return nil, badRequest("", "Unsupported Content-Type %q. Send application/json.", kind)
	}
	var request chatRequest
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		if field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			field = strings.Trim(field, `"`)
			return nil, badRequest(field, "Unrecognized request argument supplied: %s", field)
		}
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, badRequest(kind.Field, "Invalid type for '%s'.", kind.Field).code("invalid_type")
		}
		return nil, badRequest("", "We could not parse the JSON body of your request.")
	}
	if wrong := s.checkRequest(&request); wrong != nil {
		return nil, wrong
	}
	return &request, nil
}

// checkKey wants the header Authorization: Bearer KEY.
func (s *Simulator) checkKey(r *http.Request) *apiError {
	key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	unauthorized := &apiError{status: http.StatusUnauthorized, Type: invalidRequest}
	if !bearer || key == "" || strings.ContainsAny(key, " \t") {
		unauthorized.Message = "You didn't provide an API key. You need to provide your API key in an Authorization header" +
			" using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
		return unauthorized
	}
	if s.options.Key != "" && key != s.options.Key {
		unauthorized.Message = "Incorrect API key provided: " + key + "." // the real one masks the middle
		return unauthorized.code("invalid_api_key")
	}
	return nil
}

var roles = []string{"system", "developer", "user", "assistant"}

func (s *Simulator) checkRequest(r *chatRequest) *apiError {
	switch {
	case r.Model == "":
		return badRequest("", "you must provide a model parameter")
	case len(s.options.Models) > 0 && !slices.Contains(s.options.Models, r.Model):
		wrong := badRequest("", "The model `%s` does not exist or you do not have access to it.", r.Model).code("model_not_found")
		wrong.status = http.StatusNotFound
		return wrong
	case len(r.Messages) == 0:
		return badRequest("messages", "Invalid 'messages': empty array. Expected an array with minimum length 1,"+
			" but got an empty array instead.").code("empty_array")
	case r.Stream:
		return badRequest("stream", "This simulator does not stream.")
	case r.MaxTokens != nil && r.MaxCompletionTokens != nil:
		return badRequest("max_tokens", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case r.mostTokens() < 1:
		return badRequest("max_tokens", "Invalid 'max_tokens': integer below minimum value.").code("integer_below_min_value")
	}
	for i, m := range r.Messages {
		if !slices.Contains(roles, m.Role) {
			return badRequest("messages", "Invalid value: '%s' for 'messages[%d].role'.", m.Role, i).code("invalid_value")
		}
		if wrong := r.Messages[i].read(i); wrong != nil {
			return wrong
		}
	}
	if n := r.promptTokens() + r.mostTokens(); n > s.options.Context {
		return badRequest("messages", "This model's maximum context length is %d tokens. However, you requested %d tokens."+
			" Please reduce the length of the messages or completion.", s.options.Context, n).code("context_length_exceeded")
	}
	return r.checkFormat()
}

var formatName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (r *chatRequest) checkFormat() *apiError {
	format := r.ResponseFormat
	switch {
	case format == nil || format.Type == "text":
		return nil
	case format.Type != "json_schema":
		return badRequest("response_format.type", "Invalid value: '%s'.", format.Type).code("invalid_value")
	case format.JSONSchema == nil:
		return badRequest("response_format.json_schema", "Missing required parameter: 'response_format.json_schema'.").
			code("missing_required_parameter")
	case format.JSONSchema.Name == "":
		return badRequest("response_format.json_schema.name",
			"Missing required parameter: 'response_format.json_schema.name'.").code("missing_required_parameter")
	case !formatName.MatchString(format.JSONSchema.Name):
		return badRequest("response_format.json_schema.name", "Invalid 'response_format.json_schema.name': string does not"+
			" match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.").code("invalid_value")
	}
	parsed, err := parseSchema(format.JSONSchema.Schema, format.JSONSchema.Strict)
	if err != nil {
		return badRequest("response_format", "Invalid schema for response_format '%s': %s", format.JSONSchema.Name, err)
	}
	r.schema = parsed
	return nil
}
