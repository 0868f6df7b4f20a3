package aitest

import (
	"encoding/json"
	"slices"
	"strings"
)

// answer is what the simulator says, before it has the shape of the API.
type answer struct {
	content, refusal, finish string
	promptTokens, candidates int
	choice                   string // an id or NONE, of a question with candidates
}

func (a answer) completionTokens() int { return (len(a.content)+len(a.refusal))/4 + 1 }

// answerers answer the questions that have a rule of their own, by the name of
// the schema. All others are answered by chosen.
var answerers = map[string]func(*chatRequest, fault) answer{
	"sheet_gate":  gate,
	"sheet_read":  reading,
	"sheet_again": again,
}

func answerer(r *chatRequest) func(*chatRequest, fault) answer {
	if r.schema != nil {
		if own, there := answerers[r.ResponseFormat.JSONSchema.Name]; there {
			return own
		}
	}
	return chosen
}

// chosen fills the schema. A property whose enum has the ids of the candidates
// is the choice. Of another enum it takes the first value, or the last when
// the choice is NONE. Every text begins with SIMULATED; numbers are 0.
func chosen(r *chatRequest, f fault) answer {
	a := answer{finish: "stop", promptTokens: r.promptTokens(), content: Mark + " answer."}
	if r.schema == nil {
		return a
	}
	found := readData(r)
	a.candidates = len(found["candidates"])
	listing := map[string]string{}
	if len(found["listing"]) > 0 {
		listing = found["listing"][0]
	}
	var reason string
	a.choice, reason = choose(listing, found["candidates"])
	if id, why, ordered := obey(listing, found["candidates"]); f.Obey && ordered {
		a.choice, reason = id, why
	}
	if a.candidates == 0 {
		reason = "there was nothing to choose from"
	}
	a.content = fill(r.schema, a.choice, Mark+": "+reason)
	return a
}

// fill writes an object by its schema, in the order of the schema.
func fill(s *schema, choice, reason string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range s.Properties {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(p.name) + ":" + value(p.schema, choice, reason))
	}
	b.WriteByte('}')
	return b.String()
}

func value(s *schema, choice, reason string) string {
	switch {
	case s.Type == "object":
		return fill(s, choice, reason)
	case s.Type == "array":
		return "[" + value(s.Items, choice, reason) + "]"
	case slices.Contains(s.Enum, choice):
		return quoted(choice)
	case len(s.Enum) > 0 && choice == none:
		return quoted(s.Enum[len(s.Enum)-1])
	case len(s.Enum) > 0:
		return quoted(s.Enum[0])
	case s.Type == "string":
		return quoted(reason)
	case s.Type == "boolean":
		return "false"
	default:
		return "0"
	}
}

func quoted(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil { // text is no thing that fails
		return `""`
	}
	return string(encoded)
}
