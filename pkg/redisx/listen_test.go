package redisx_test

import (
	"context"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestListenSubscribesAgain(t *testing.T) {
	t.Parallel()
	conn, err := redisx.Open(t.Context(), redisx.Options{URL: redistest.Start(t).URL})
	must(t, err)
	defer conn.Close()
	ctx, stop := context.WithCancel(t.Context())
	heard, subscribed, ended := make(chan string, 2), make(chan bool, 2), make(chan bool)
	go func() {
		defer close(ended)
		redisx.Listener{
			Client: conn.Client(), Channel: "news",
			Heard: func(message string) error {
				heard <- message
				return nil
			},
			Subscribed: func() { subscribed <- true },
		}.Run(ctx)
	}()
	for _, message := range []string{"first", "after the connection broke"} {
		await(t, subscribed)
		must(t, conn.Client().Publish(ctx, "news", message).Err())
		if got := await(t, heard); got != message {
			t.Errorf("heard %q, want %q", got, message)
		}
		must(t, conn.Client().Do(ctx, "CLIENT", "KILL", "TYPE", "pubsub").Err())
	}
	stop()
	await(t, ended)
}

func await[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
	}
	return value
}
