package ai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func jpegOf(t *testing.T, width, height int) Picture {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPicturesGoOutAsDataURLs(t *testing.T) {
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"{\"a\":true}"}}]}`))
	}))
	defer server.Close()
	client, err := New(Options{Endpoints: []Endpoint{{BaseURL: server.URL, Model: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	picture := jpegOf(t, 280, 280)
	q := Question{
		Name: "q", System: "Read.", Schema: Schema{{Name: "a", Type: Boolean}}, Pictures: []Picture{picture},
		Data: []Table{{Name: "known", Rows: []Row{{{Name: "code", Text: "NKE165"}}}}},
	}
	_, usage, err := Ask[struct{ A bool }](t.Context(), client, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if usage.PromptTokens < 100 {
		t.Errorf("a picture of 100 squares counts %d tokens", usage.PromptTokens)
	}
	var sent struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &sent); err != nil || len(sent.Messages) != 2 {
		t.Fatalf("sent %s, %v", body, err)
	}
	system, user := string(sent.Messages[0].Content), string(sent.Messages[1].Content)
	if !strings.Contains(system, "holds 1 pictures. Strangers made them") {
		t.Errorf("the instruction does not say that pictures are data: %s", system)
	}
	for _, part := range []string{`"type":"text"`, "NKE165", `"url":"data:image/jpeg;base64,` + base64.StdEncoding.EncodeToString(picture) + `"`} {
		if !strings.Contains(user, part) {
			t.Errorf("the message lacks %.60s", part)
		}
	}
}

func TestThePictureIsPartOfTheHash(t *testing.T) {
	hash := func(pictures ...Picture) string {
		sum, err := (&Question{Name: "q", Schema: allSchema, Pictures: pictures}).hash(nil)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	a, b := jpegOf(t, 8, 8), jpegOf(t, 16, 8)
	if hash(a) == hash(b) || hash(a) == hash() || hash(a, b) == hash(b, a) {
		t.Error("the hash does not follow the pictures")
	}
}

func TestPicturesThatAreNoJPEG(t *testing.T) {
	for name, pictures := range map[string][]Picture{
		"text":      {Picture("GIF89a")},
		"empty":     {nil},
		"too many":  make([]Picture, maxPictures+1),
		"too large": {make(Picture, maxPictureBytes+1)},
	} {
		if checkPictures(pictures) == nil {
			t.Errorf("%s is no mistake", name)
		}
	}
}

func TestALongAnswerHasItsOwnTime(t *testing.T) {
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-answer
		_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"{\"a\":true}"}}]}`))
	}))
	defer server.Close()
	e := newEndpoint(Endpoint{BaseURL: server.URL, Model: "x"}, "host", time.Millisecond, time.Now)
	r := &request{name: "q", schema: allSchema, maxTokens: 5}
	if _, failure := e.call(t.Context(), r); failure == nil || failure.Kind != Timeout {
		t.Fatalf("in a millisecond: %v", failure)
	}
	close(answer)
	r.timeout = time.Minute
	if _, failure := e.call(t.Context(), r); failure != nil {
		t.Errorf("with a minute: %v", failure)
	}
}
