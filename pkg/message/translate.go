package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"ushuru/pkg/plainjson"
)

// Translate returns a JSON value in Swahili. Where an object has a text {"en", "sw"}, or a list
// of texts, every string of the object that equals an English text is replaced by the Swahili
// one, in lists too. Everything else keeps its bytes and its order.
func Translate(value []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(value))
	if err := translate(&out, bytes.TrimSpace(value)); err != nil {
		return nil, fmt.Errorf("message: translate: %w", err)
	}
	return out.Bytes(), nil
}

func translate(out *bytes.Buffer, value json.RawMessage) error {
	if len(value) == 0 || value[0] != '{' && value[0] != '[' {
		out.Write(value)
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	if value[0] == '[' {
		return translateList(out, decoder)
	}
	return translateObject(out, decoder)
}

func translateList(out *bytes.Buffer, decoder *json.Decoder) error {
	out.WriteByte('[')
	for i := 0; decoder.More(); i++ {
		var element json.RawMessage
		if err := decoder.Decode(&element); err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		if err := translate(out, element); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

// member is a member of a JSON object.
type member struct{ name, value json.RawMessage }

func translateObject(out *bytes.Buffer, decoder *json.Decoder) error {
	var members []member
	swahili := map[string]string{} // by the English
	for decoder.More() {
		var m member
		name, err := decoder.Token()
		if err == nil {
			err = decoder.Decode(&m.value)
		}
		if err != nil {
			return err
		}
		if m.name, err = plainjson.Encode(name); err != nil {
			return err
		}
		for _, text := range textsIn(m.value) {
			if text.EN != "" && text.SW != "" {
				swahili[text.EN] = text.SW
			}
		}
		members = append(members, m)
	}
	out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(m.name)
		out.WriteByte(':')
		if err := translateMember(out, m.value, swahili); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// textsIn returns the texts that a value is, or that a list has.
func textsIn(value json.RawMessage) (texts []Text) {
	var text Text
	switch {
	case value[0] == '{' && json.Unmarshal(value, &text) == nil:
		return []Text{text}
	case value[0] == '[' && json.Unmarshal(value, &texts) != nil:
		return nil
	}
	return texts
}

func translateMember(out *bytes.Buffer, value json.RawMessage, swahili map[string]string) error {
	var (
		english string
		list    []string
	)
	if value[0] == '[' && len(swahili) > 0 && json.Unmarshal(value, &list) == nil {
		for i, sentence := range list {
			if said := swahili[sentence]; said != "" {
				list[i] = said
			}
		}
		text, err := plainjson.Encode(list)
		out.Write(text)
		return err
	}
	if value[0] != '"' || len(swahili) == 0 || json.Unmarshal(value, &english) != nil || swahili[english] == "" {
		return translate(out, value)
	}
	text, err := plainjson.Encode(swahili[english])
	out.Write(slices.Clip(text))
	return err
}
