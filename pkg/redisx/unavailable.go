package redisx

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// unavailableReplies begin the errors of a server that will accept the same command
// later: it loads its data, follows a master, has no memory or cannot write to its
// disk, has lost its replicas or its cluster.
var unavailableReplies = []string{
	"LOADING", "READONLY", "MASTERDOWN", "OOM", "MISCONF", "NOREPLICAS", "CLUSTERDOWN", "TRYAGAIN", "BUSY ", "UNBLOCKED",
	"ERR max number of clients reached",
	// Of the client, which has them without a type.
	"redis: cluster has no nodes", "redis: no sentinels configured",
	"redis: all sentinels specified in configuration are unreachable",
}

// IsUnavailable reports whether an error means that Redis cannot be reached, or that
// it accepts no such command now and will accept it later. Other errors of a server
// return with every attempt.
func IsUnavailable(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok { // also joined with the nil of a sentinel that knows no master
		return true
	}
	if err == nil {
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, redis.ErrPoolTimeout) ||
		errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	text := err.Error() // scripts and other packages wrap the reply without its type
	for _, reply := range unavailableReplies {
		if strings.Contains(text, reply) {
			return true
		}
	}
	return false
}

// IsReply reports whether an error is the reply of a server that has refused a command.
func IsReply(err error) bool {
	_, refused := errors.AsType[redis.Error](err)
	return refused && !errors.Is(err, redis.Nil)
}

// IsLoading reports whether an error means that Redis reads its data from the disk.
func IsLoading(err error) bool { return err != nil && strings.Contains(err.Error(), "LOADING ") }

// IsFull reports whether an error means that Redis has no memory for a write. What only
// deletes still works.
func IsFull(err error) bool { return err != nil && strings.Contains(err.Error(), "OOM ") }
