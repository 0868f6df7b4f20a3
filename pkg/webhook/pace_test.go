package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/webhook"
	"ushuru/pkg/webhook/webhooktest"
)

// stuck is a receiver that answers nothing until ctx is done, and counts.
type stuck struct{ now, most, all atomic.Int64 }

func (s *stuck) Post(ctx context.Context, _ string, _ http.Header, _ []byte) (int, http.Header, []byte, error) {
	s.all.Add(1)
	if n := s.now.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.now.Add(-1)
	select {
	case <-ctx.Done():
	case <-time.After(300 * time.Millisecond):
	}
	return 0, nil, nil, context.DeadlineExceeded
}

func TestEndpointHasTwoDeliveriesAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, embedded(t), "https://hooks.example")
	receiver := &stuck{}
	s.sender.Post = receiver.Post
	for i := range 20 {
		s.emit(t, webhook.BatchCompleted, fmt.Sprintf("batch%d", i))
	}
	webhooktest.Serve(t, s.client, s.sender, 8, time.Second)
	if most := receiver.most.Load(); most != 2 {
		t.Errorf("%d deliveries at once, want 2", most)
	}
}

// slowPoster is a receiver that fails, and takes longer for it than SlowAfter.
type slowPoster struct{ posts atomic.Int64 }

func (s *slowPoster) Post(ctx context.Context, _ string, _ http.Header, _ []byte) (int, http.Header, []byte, error) {
	s.posts.Add(1)
	select { // as with a real one, its sender may give up
	case <-ctx.Done():
	case <-time.After(30 * time.Millisecond):
	}
	return 0, nil, nil, context.DeadlineExceeded
}

func TestSlowEndpointIsPaused(t *testing.T) {
	t.Parallel()
	s := newStage(t, embedded(t), "https://hooks.example")
	receiver := &slowPoster{}
	s.sender.Post, s.sender.SlowAfter = receiver.Post, 10*time.Millisecond
	s.sender.Schedule = []time.Duration{time.Hour, time.Hour}
	for i := range 20 {
		s.emit(t, webhook.BatchCompleted, fmt.Sprintf("batch%d", i))
	}
	webhooktest.Serve(t, s.client, s.sender, 8, time.Second)
	if n := receiver.posts.Load(); n > 2 {
		t.Errorf("a slow endpoint got %d requests before its pause is over", n)
	}
	waiting := 0
	for _, d := range s.deliveries(t) {
		if d.Tries == 0 && d.State == webhook.Pending {
			waiting++
		}
	}
	if waiting < 18 {
		t.Errorf("%d deliveries wait without having used up an attempt, want 18", waiting)
	}
}

func TestDeliveryWaitsForTheTurnOfItsKey(t *testing.T) {
	t.Parallel()
	s := newStage(t, embedded(t), "https://hooks.example")
	place := make(chan string, 1)
	s.sender.Turn = func(_ context.Context, _, id string, _ time.Duration) (func(), bool, error) {
		select {
		case place <- id:
			return func() { <-place }, true, nil
		default:
			return nil, false, nil
		}
	}
	receiver := &stuck{}
	s.sender.Post = receiver.Post
	for i := range 4 {
		s.emit(t, webhook.BatchCompleted, fmt.Sprintf("batch%d", i))
	}
	webhooktest.Serve(t, s.client, s.sender, 8, time.Second)
	if most := receiver.most.Load(); most != 1 {
		t.Errorf("%d deliveries at once", most)
	}
}
