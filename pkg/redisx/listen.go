package redisx

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// maxMessage is the maximum length of a message in bytes. The longest of ours names a step
// and its page.
const maxMessage = 64 << 10

// Listener calls Heard for each message of a channel. Any client of Redis can
// publish there: a message that is too long, that Heard refuses, or at which Heard panics,
// is given to Refused, and the Listener goes on with the next message.
type Listener struct {
	Client  redis.UniversalClient
	Channel string
	Heard   func(message string) error
	// Subscribed, if not nil, is called after each subscription: messages may have been lost
	// before it.
	Subscribed func()
	Refused    func(channel string, cause error) // nil ignores it
}

// Run listens until ctx ends. The client subscribes again by itself when the connection
// breaks.
func (l Listener) Run(ctx context.Context) {
	sub := l.Client.Subscribe(ctx, l.Channel)
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
			if err := l.take(message); err != nil && ctx.Err() == nil && l.Refused != nil {
				l.Refused(l.Channel, err)
			}
		}
	}
}

func (l Listener) take(message any) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("redisx: panic: %v", cause)
		}
	}()
	switch message, is := message.(*redis.Message); {
	case is && len(message.Payload) > maxMessage:
		return fmt.Errorf("redisx: a message of %d bytes", len(message.Payload))
	case is:
		return l.Heard(message.Payload)
	case l.Subscribed != nil:
		l.Subscribed()
	}
	return nil
}
