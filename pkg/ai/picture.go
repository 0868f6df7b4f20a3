package ai

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"image/jpeg"

	openai "github.com/sashabaranov/go-openai"
)

// Picture is a JPEG image of a question. It is sent unchanged: the caller must
// have decoded, bounded and re-encoded it.
type Picture []byte

const (
	maxPictures     = 8
	maxPictureBytes = 8 << 20
)

func checkPictures(pictures []Picture) error {
	if len(pictures) > maxPictures {
		return fmt.Errorf("ai: more than %d pictures", maxPictures)
	}
	for _, p := range pictures {
		if len(p) > maxPictureBytes {
			return fmt.Errorf("ai: a picture of more than %d bytes", maxPictureBytes)
		}
		if _, err := jpeg.DecodeConfig(bytes.NewReader(p)); err != nil {
			return errors.New("ai: a picture that is no JPEG")
		}
	}
	return nil
}

// pictureHashes returns the hashes of the images, for the hash of a question.
func pictureHashes(pictures []Picture) []string {
	hashes := make([]string, len(pictures))
	for i, p := range pictures {
		sum := sha256.Sum256(p)
		hashes[i] = hex.EncodeToString(sum[:])
	}
	return hashes
}

// pictureTokens returns the approximate maximum cost of the images: a token for each square
// of 28 pixels, as Qwen counts; OpenAI and Anthropic make pictures smaller
// first, or count a token for 750 pixels.
func pictureTokens(pictures []Picture) (tokens int) {
	const pixels = 28 * 28
	for _, p := range pictures {
		if size, err := jpeg.DecodeConfig(bytes.NewReader(p)); err == nil {
			tokens += size.Width*size.Height/pixels + 100
		}
	}
	return tokens
}

// userMessage is the data: a text alone, which all servers read, or a text and
// pictures as data URLs.
func userMessage(r *request) openai.ChatCompletionMessage {
	if len(r.pictures) == 0 {
		return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: r.user}
	}
	var parts []openai.ChatMessagePart
	if r.user != "" {
		parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: r.user})
	}
	for _, p := range r.pictures {
		parts = append(parts, openai.ChatMessagePart{
			Type: openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{
				URL: "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(p), Detail: openai.ImageURLDetailHigh,
			},
		})
	}
	return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, MultiContent: parts}
}
