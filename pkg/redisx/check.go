package redisx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrTooOld means that the server is older than Redis 6.2, the first version with
// GETDEL, GETEX and ZADD GT.
var ErrTooOld = errors.New("redisx: Redis 6.2 or newer is required")

const minMajor, minMinor = 6, 2

// check pings the server and reads its version. A server that hides its version
// passes; Warnings reports it.
func (c *Conn) check(ctx context.Context) error {
	ping := Ping(ctx, c.client)
	if ping != nil {
		ping = fmt.Errorf("ping: %w", ping)
	}
	if c.Embedded() || ping != nil && !IsLoading(ping) {
		return ping
	}
	infos, err := readInfos(ctx, c.client)
	for _, info := range infos {
		if version := info["redis_version"]; tooOld(version) {
			err = errors.Join(err, fmt.Errorf("%w: this is %s", ErrTooOld, version))
		}
	}
	return cmp.Or(err, ping)
}

// Loading reports whether the server loads its data. Any other answer, an error too,
// is no.
func (c *Conn) Loading(ctx context.Context) bool { return IsLoading(c.client.Ping(ctx).Err()) }

// Warnings returns sentences for the log at start about settings that may lose
// data; nil when there are none. The servers of a cluster do not repeat each
// other's sentences.
func (c *Conn) Warnings(ctx context.Context) []string {
	if c.Embedded() {
		return []string{"Redis runs inside this process: it is for development only and stores nothing permanently"}
	}
	infos, err := readInfos(ctx, c.client)
	var all []string
	for _, info := range infos {
		all = append(all, warnings(info)...)
	}
	if err != nil {
		all = append(all, fmt.Sprintf("the settings of Redis could not be read: %v", err))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func warnings(info map[string]string) (all []string) {
	if info["redis_version"] == "" {
		all = append(all, "Redis hides its version: 6.2 or newer is required")
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		all = append(all, fmt.Sprintf("Redis has maxmemory-policy %s: it may delete jobs; set noeviction", policy))
	}
	if info["aof_enabled"] == "0" {
		all = append(all, "Redis has appendonly off: a restart may lose jobs")
	}
	return all
}

// eachServer calls f for the server, or concurrently for every master of a cluster.
func eachServer(ctx context.Context, client redis.UniversalClient, f func(context.Context, redis.Cmdable) error) error {
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return f(ctx, node) })
	}
	return f(ctx, client)
}

// readInfos returns the fields of INFO of the server, or of every master of a cluster; none of a
// server that refuses the command, as some hosted servers do.
func readInfos(ctx context.Context, client redis.UniversalClient) (all []map[string]string, err error) {
	var mu sync.Mutex
	err = eachServer(ctx, client, func(ctx context.Context, server redis.Cmdable) error {
		fields := infoFields(server.Info(ctx).Val())
		mu.Lock()
		defer mu.Unlock()
		all = append(all, fields)
		return ctx.Err()
	})
	return all, err
}

func infoFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

func tooOld(version string) bool {
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 { //nolint:mnd // two numbers
		return false
	}
	return major < minMajor || major == minMajor && minor < minMinor
}

// ErrDefaultUser means that Redis would lose transactions and scripts at its next restart.
var ErrDefaultUser = errors.New("the default user of Redis may do only a part: Redis reads its append-only file as this user," +
	" and drops at a restart every transaction and script that the user may not run, which loses jobs and batches;" +
	" put \"user default off resetpass ~* &* +@all\" into its ACL file, which lets nobody in and loses nothing")

// CheckDefaultUser connects to each server without a login. A server that has users must
// answer NOAUTH; one that answers NOPERM has a default user whose rights do not suffice to
// read its own data, which is ErrDefaultUser. A server that answers something else, or
// nothing, passes: it has no users, or other checks report it.
func (c *Conn) CheckDefaultUser(ctx context.Context) error {
	if c.Embedded() {
		return nil
	}
	return eachServer(ctx, c.client, func(ctx context.Context, server redis.Cmdable) error {
		client, ok := server.(*redis.Client)
		if !ok {
			return nil
		}
		options := *client.Options()
		options.Username, options.Password, options.PoolSize, options.MinIdleConns = "", "", 1, 0
		anybody := redis.NewClient(&options)
		defer func() { _ = anybody.Close() }()
		_, err := anybody.TxPipelined(ctx, func(pipe redis.Pipeliner) error { // what a transaction in the file needs
			pipe.Set(ctx, keyProbe, "", probeTTL)
			pipe.Expire(ctx, keyProbe, probeTTL)
			return nil
		})
		if err != nil && strings.Contains(err.Error(), "NOPERM") {
			return fmt.Errorf("%w: %w", ErrDefaultUser, err)
		}
		return nil
	})
}

// ErrNotReplicated means that fewer replicas than demanded have confirmed a write in
// time.
var ErrNotReplicated = errors.New("redisx: too few replicas have confirmed the write")

// replicaTimeout is how long AwaitReplicas waits. A replica that lags more is no
// protection from the death of its master.
const replicaTimeout = time.Second

// AwaitReplicas returns when n replicas, of every master of a cluster, have confirmed
// all that was written before the call, on whichever connection; ErrNotReplicated
// when they have not in time. With n = 0 it does nothing.
func (c *Conn) AwaitReplicas(ctx context.Context, n int) error {
	if n <= 0 {
		return nil
	}
	return eachServer(ctx, c.client, func(ctx context.Context, server redis.Cmdable) error {
		// WAIT waits for all writes of the server up to the last command of this connection.
		// PING makes that command the latest one, so that WAIT covers the writes of other connections.
		pipe := server.Pipeline()
		pipe.Ping(ctx)
		confirmed := pipe.Do(ctx, "WAIT", n, replicaTimeout.Milliseconds())
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("redisx: wait for replicas: %w", err)
		}
		got, err := confirmed.Int()
		if err == nil && got < n {
			err = fmt.Errorf("%w: %d of %d", ErrNotReplicated, got, n)
		}
		return err
	})
}

// Replicas returns how many replicas are connected, over all masters of a cluster.
func (c *Conn) Replicas(ctx context.Context) (all int, err error) {
	if c.Embedded() {
		return 0, nil
	}
	infos, err := readInfos(ctx, c.client)
	for _, info := range infos {
		n, _ := strconv.Atoi(info["connected_slaves"])
		all += n
	}
	return all, err
}

// Memory is how much a server holds, and whether that is on its disk.
type Memory struct {
	Used   int64  // bytes; 0 when the server does not tell
	Limit  int64  // bytes; 0 means none
	Policy string // what it does at the limit

	Volatile bool   // it keeps no append-only file
	Unsaved  string // the field of INFO that says that its disk was not written the last time; "" for none
}

// ReadMemory returns the memory of a server; of a cluster that of the server that is
// fullest, and what is wrong with the disk of any.
func ReadMemory(ctx context.Context, client redis.UniversalClient) (Memory, error) {
	infos, err := readInfos(ctx, client)
	if err != nil {
		return Memory{}, fmt.Errorf("redisx: memory: %w", err)
	}
	var fullest Memory
	for _, info := range infos {
		memory := memoryOf(info)
		volatile, unsaved := fullest.Volatile || memory.Volatile, cmp.Or(fullest.Unsaved, memory.Unsaved)
		if memory.part() >= fullest.part() {
			fullest = memory
		}
		fullest.Volatile, fullest.Unsaved = volatile, unsaved
	}
	return fullest, nil
}

// part returns the part of the memory that is used; without a limit next to nothing.
func (m Memory) part() float64 {
	const huge = 1e15
	if m.Limit == 0 {
		return float64(m.Used) / huge
	}
	return float64(m.Used) / float64(m.Limit)
}

func memoryOf(info map[string]string) Memory {
	used, _ := strconv.ParseInt(info["used_memory"], 10, 64)
	limit, _ := strconv.ParseInt(info["maxmemory"], 10, 64)
	memory := Memory{Used: used, Limit: limit, Policy: info["maxmemory_policy"], Volatile: info["aof_enabled"] == "0"}
	for _, field := range []string{"aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status"} {
		if info[field] == "err" {
			memory.Unsaved = cmp.Or(memory.Unsaved, field)
		}
	}
	return memory
}

// Evicts reports whether the server deletes keys, also those of jobs, when its memory is full. A
// server whose policy is unknown counts as one that does not.
func (m Memory) Evicts() bool { return m.Policy != "" && m.Policy != "noeviction" }

// keyProbe is written to see that Redis accepts a write: it can answer and refuse those,
// as a replica does, or with its memory or disk full.
const keyProbe, probeTTL = "ready:probe", time.Minute

// roomForWork is what a request that is accepted may write, in bytes. A server that has less left
// accepts the probe now and then, as connections come and go, and refuses the rest of the work.
const roomForWork = 1 << 20

// ErrFull means that the memory of a server that deletes nothing has no room for new work.
var ErrFull = errors.New("OOM less than 1 MB of maxmemory is left")

// CheckWrite returns why Redis does not accept a write.
func CheckWrite(ctx context.Context, client redis.UniversalClient) error {
	if err := client.Set(ctx, keyProbe, "", probeTTL).Err(); err != nil {
		return err
	}
	memory, err := ReadMemory(ctx, client)
	if err == nil && memory.Limit > 0 && !memory.Evicts() && memory.Limit-memory.Used < roomForWork {
		err = ErrFull
	}
	return err
}

// Ping returns why Redis does not answer. A server whose disk is full refuses even PING
// (MISCONF), and still answers reads.
func Ping(ctx context.Context, client redis.UniversalClient) error {
	err := client.Ping(ctx).Err()
	if redis.HasErrorPrefix(err, "MISCONF") {
		return nil
	}
	return err
}
