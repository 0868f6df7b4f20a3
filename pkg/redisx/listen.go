package redisx

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Listen calls heard for each message of a channel, until ctx ends. The client
// subscribes again by itself when the connection breaks. Messages may be lost before
// each subscription: subscribed, unless it is nil, is called after it.
func Listen(ctx context.Context, client redis.UniversalClient, channel string, heard func(message string), subscribed func()) {
	sub := client.Subscribe(ctx, channel)
	defer func() { _ = sub.Close() }()
	messages := sub.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return
		case message, ok := <-messages:
			if !ok {
				return
			}
			if message, ok := message.(*redis.Message); ok {
				heard(message.Payload)
			} else if subscribed != nil {
				subscribed()
			}
		}
	}
}
