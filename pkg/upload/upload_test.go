package upload_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/upload"
)

func TestWhatIsSentIsKeptOnceAndForAWhile(t *testing.T) {
	picture := make([]byte, upload.MaxFile)
	if _, err := rand.Read(picture); err != nil {
		t.Fatal(err)
	}
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := upload.NewStore(conn.Client())
		for name, sent := range map[string]struct {
			content []byte
			most    int // bytes in Redis
		}{
			"a page":                   {[]byte(strings.Repeat("<p>カローラ</p>", 10_000)), 10_000 * len("<p>カローラ</p>") / 8},
			"a page of the most bytes": {bytes.Repeat([]byte("x"), upload.MaxPage), upload.MaxPage / 8},
			"a picture":                {picture, upload.MaxFile + 1<<10},
			"nothing":                  {[]byte{}, 100},
		} {
			hash := upload.Hash(sent.content)
			if _, err := store.Get(t.Context(), hash); !errors.Is(err, upload.ErrExpired) {
				t.Errorf("%s, before: %v", name, err)
			}
			for range 2 {
				if err := store.Put(t.Context(), hash, sent.content); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := store.Get(t.Context(), hash); err != nil || !bytes.Equal(got, sent.content) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			key := "upload:{" + hash + "}"
			if size := conn.Client().StrLen(t.Context(), key).Val(); size == 0 || size > int64(sent.most) {
				t.Errorf("%s: %d bytes are kept of %d", name, size, len(sent.content))
			}
			if left := conn.Client().TTL(t.Context(), key).Val(); left < 29*time.Minute || left > 30*time.Minute {
				t.Errorf("%s: kept for %v", name, left)
			}
			if err := store.Delete(t.Context(), hash); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Get(t.Context(), hash); !errors.Is(err, upload.ErrExpired) {
				t.Errorf("%s, after: %v", name, err)
			}
		}
	})
}

func TestTextAndBytesHaveOneName(t *testing.T) {
	t.Parallel()
	if upload.Hash("page") != upload.Hash([]byte("page")) || upload.Hash("page") == upload.Hash("pages") {
		t.Error(upload.Hash("page"))
	}
}
