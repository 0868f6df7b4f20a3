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

func TestContentsAreStoredOnceAndExpire(t *testing.T) {
	image := make([]byte, upload.MaxFile)
	if _, err := rand.Read(image); err != nil {
		t.Fatal(err)
	}
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := upload.NewStore(conn.Client())
		for name, sent := range map[string]struct {
			content []byte
			max     int // bytes in Redis
		}{
			"a page":                 {[]byte(strings.Repeat("<p>カローラ</p>", 10_000)), 10_000 * len("<p>カローラ</p>") / 8},
			"a page of maximum size": {bytes.Repeat([]byte("x"), upload.MaxPage), upload.MaxPage / 8},
			"a image":                {image, upload.MaxFile + 1<<10},
			"nothing":                {[]byte{}, 100},
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
			if size := conn.Client().StrLen(t.Context(), key).Val(); size == 0 || size > int64(sent.max) {
				t.Errorf("%s: %d bytes are stored of %d", name, size, len(sent.content))
			}
			if left := conn.Client().TTL(t.Context(), key).Val(); left < 29*time.Minute || left > 30*time.Minute {
				t.Errorf("%s: expires in %v", name, left)
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

func TestTextAndBytesHaveTheSameHash(t *testing.T) {
	t.Parallel()
	if upload.Hash("page") != upload.Hash([]byte("page")) || upload.Hash("page") == upload.Hash("pages") {
		t.Error(upload.Hash("page"))
	}
}
