package cache_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/cache"
)

func TestPicturesAreBounded(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	pictures := cache.New(client)
	if _, err := pictures.Picture(t.Context(), "https://cars.example/0"); !errors.Is(err, cache.ErrMiss) {
		t.Error(err)
	}
	const more = 2003
	for n := range more {
		if err := pictures.PutPicture(t.Context(), fmt.Sprintf("https://cars.example/%d", n), []byte("picture")); err != nil {
			t.Fatal(err)
		}
	}
	if keys := server.Keys(); len(keys) != 2001 { // and the index
		t.Errorf("%d keys", len(keys))
	}
	last := fmt.Sprintf("https://cars.example/%d", more-1)
	if got, err := pictures.Picture(t.Context(), last); string(got) != "picture" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := pictures.PutPicture(t.Context(), last, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := pictures.Picture(t.Context(), last); len(got) != 0 || err != nil {
		t.Errorf("an address without a picture: %q, %v", got, err)
	}
}
