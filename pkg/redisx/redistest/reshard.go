package redistest

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Reshard moves every slot of the first master that has keys to the second one, key by
// key, as redis-cli --cluster reshard does. It returns the number of slots.
func (c *ClusterSet) Reshard() int {
	t := c.Nodes[0].t
	t.Helper()
	from, to := c.Nodes[0].daemon.client(), c.Nodes[1].daemon.client()
	defer from.Close()
	defer to.Close()
	ctx := t.Context()
	slots, err := slotsWithKeys(ctx, from, clusterSlots/clusterNodes)
	if err != nil {
		t.Fatalf("redistest: slots with keys: %v", err)
	}
	for _, slot := range slots {
		if err := c.moveSlot(ctx, from, to, slot); err != nil {
			t.Fatalf("redistest: move slot %d: %v", slot, err)
		}
	}
	return len(slots)
}

// slotsWithKeys returns those of the lowest slots that have keys.
func slotsWithKeys(ctx context.Context, node *redis.Client, count int) (slots []int, err error) {
	counts := make([]*redis.IntCmd, count)
	_, err = node.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for slot := range counts {
			counts[slot] = pipe.ClusterCountKeysInSlot(ctx, slot)
		}
		return nil
	})
	for slot, n := range counts {
		if n.Val() > 0 {
			slots = append(slots, slot)
		}
	}
	return slots, err
}

func (c *ClusterSet) moveSlot(ctx context.Context, from, to *redis.Client, slot int) error {
	const atOnce, timeout = 20, "5000"
	fromID, err1 := from.ClusterMyID(ctx).Result()
	toID, err2 := to.ClusterMyID(ctx).Result()
	if err1 != nil || err2 != nil {
		return fmt.Errorf("ids: %w, %w", err1, err2)
	}
	if err := to.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", fromID).Err(); err != nil {
		return err
	}
	if err := from.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", toID).Err(); err != nil {
		return err
	}
	for {
		keys, err := from.ClusterGetKeysInSlot(ctx, slot, atOnce).Result()
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			break
		}
		args := []any{"MIGRATE", loopback, strconv.Itoa(c.Nodes[1].daemon.port), "", 0, timeout, "REPLACE", "KEYS"}
		for _, key := range keys {
			args = append(args, key)
		}
		if err := from.Do(ctx, args...).Err(); err != nil {
			return err
		}
	}
	for _, node := range []*redis.Client{to, from} { // the new owner first
		if err := node.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", toID).Err(); err != nil {
			return err
		}
	}
	return nil
}
