package aitest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	_ "image/jpeg" // what clients send
	_ "image/png"  // what they may send
	"strings"
)

// message is one of a request: text, or parts of text and pictures.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`

	text     string
	pictures []image.Image
}

// part of a message.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL *struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"image_url"`
}

// pixelsOfToken is about what a picture costs.
const pixelsOfToken = 750

// read takes the content apart. at is the number of the message.
func (m *message) read(at int) *apiError {
	if json.Unmarshal(m.Content, &m.text) == nil {
		return nil
	}
	var parts []part
	decoder := json.NewDecoder(bytes.NewReader(m.Content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&parts); err != nil || len(parts) == 0 {
		return badRequest("messages", "Invalid type for 'messages[%d].content': expected one of a string or array of"+
			" objects.", at).code("invalid_type")
	}
	for i, p := range parts {
		switch {
		case p.Type == "text" && p.ImageURL == nil:
			m.text += p.Text
		case p.Type == "image_url" && p.ImageURL != nil:
			picture, err := decodePicture(p.ImageURL.URL)
			if err != nil || m.Role != "user" {
				return badRequest("messages", "Invalid 'messages[%d].content[%d].image_url': You uploaded an unsupported image."+
					" Please make sure your image is valid.", at, i).code("invalid_image_format")
			}
			m.pictures = append(m.pictures, picture)
		default:
			return badRequest("messages", "Invalid value: '%s' for 'messages[%d].content[%d].type'.", p.Type, at, i).
				code("invalid_value")
		}
	}
	return nil
}

// decodePicture reads a data URL; the simulator fetches nothing.
func decodePicture(url string) (image.Image, error) {
	kind, encoded, _ := strings.Cut(url, ";base64,")
	if kind != "data:image/jpeg" && kind != "data:image/png" {
		return nil, image.ErrFormat
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	picture, _, err := image.Decode(bytes.NewReader(raw))
	return picture, err
}

// pictures are those of all messages.
func (r *chatRequest) pictures() (list []image.Image) {
	for _, m := range r.Messages {
		list = append(list, m.pictures...)
	}
	return list
}
