package redisx_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"go.uber.org/goleak"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestEmbeddedIsRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	_, err := redisx.Open(t.Context(), redisx.Options{})
	if !errors.Is(err, redisx.ErrEmbeddedRefused) {
		t.Errorf("Open: %v, want ErrEmbeddedRefused", err)
	}
}

func TestEmbeddedIsNotUsedWhereThereIsAURL(t *testing.T) {
	t.Parallel()
	options := redisx.Options{URL: redistest.Start(t).URL, AllowEmbedded: true}
	conn, err := redisx.Open(t.Context(), options)
	must(t, err)
	defer conn.Close()
	if conn.Embedded() || conn.String() != options.URL {
		t.Errorf("connected to %v, embedded: %v", conn, conn.Embedded())
	}
}

func TestEmbeddedLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for range 2 {
		conn, err := redisx.Open(t.Context(), redisx.Options{AllowEmbedded: true})
		must(t, err)
		if !conn.Embedded() || len(conn.Warnings(t.Context())) != 1 {
			t.Errorf("embedded: %v, warnings %q", conn.Embedded(), conn.Warnings(t.Context()))
		}
		if n := conn.Client().DBSize(t.Context()).Val(); n != 0 {
			t.Errorf("%d keys at the start", n)
		}
		must(t, conn.Client().Set(t.Context(), "k", "v", time.Hour).Err())
		must(t, conn.Close())
		must(t, conn.Close())
	}
}

func TestOpenThatFailsLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, url := range []string{
		"redis://:s3cr3t@127.0.0.1:1",
		"redis-cluster://:s3cr3t@127.0.0.1:1",
		"redis-sentinel://:s3cr3t@127.0.0.1:1?master=m&password=s3cr3t",
		"redis-socket://:s3cr3t@/no/such/socket",
		"redis://:s3cr3t@127.0.0.1:x",
		"http://:s3cr3t@127.0.0.1",
	} {
		_, err := redisx.Open(t.Context(), redisx.Options{URL: url})
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "***") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestOpenObeysItsContext(t *testing.T) {
	t.Parallel()
	line := redistest.Proxy(t, redistest.Start(t).Addr)
	line.Delay(deadline)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := redisx.Open(ctx, redisx.Options{URL: line.URL}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open: %v", err)
	}
}

func TestClosingAClientOfAsynqClosesNoOther(t *testing.T) {
	t.Parallel()
	conn := redistest.Open(t, redistest.Start(t).URL)
	made, ok := conn.AsynqOpt().MakeRedisClient().(interface{ Close() error })
	if !ok {
		t.Fatal("not a client")
	}
	must(t, made.Close())
	must(t, conn.Client().Ping(t.Context()).Err())
}

func TestPasswordAndSocket(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	running := redistest.Start(t, redistest.Args("--unixsocket", socket))
	must(t, redistest.Open(t, running.URL).Client().ConfigSet(t.Context(), "requirepass", "s3cr3t").Err())

	for _, url := range []string{
		"redis://:s3cr3t@" + running.Addr + "/2",
		"redis://default:s3cr3t@" + running.Addr,
		"redis-socket://:s3cr3t@" + socket + "?db=1",
	} {
		must(t, redistest.Open(t, url).Client().Set(t.Context(), "k", "v", 0).Err())
	}
	_, err := redisx.Open(t.Context(), redisx.Options{URL: "redis://:wr0ng@" + running.Addr})
	if err == nil || strings.Contains(err.Error(), "wr0ng") || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("wrong password: %v", err)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		option redistest.Option
		want   string
	}{
		"well configured": {redistest.AOF(), ""},
		"evicting": {
			redistest.Args("--maxmemory-policy", "allkeys-lru", "--appendonly", "yes"),
			"maxmemory-policy allkeys-lru",
		},
		"forgetful": {redistest.Args(), "appendonly off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := redistest.Open(t, redistest.Start(t, c.option).URL).Warnings(t.Context())
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
				t.Errorf("warnings %q, want %q", got, c.want)
			}
		})
	}
}

func TestWarningsOfAClusterAreNotRepeated(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		if got := conn.Warnings(t.Context()); len(got) != 1 {
			t.Errorf("warnings %q, want the one that data is lost", got)
		}
	})
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{
		"6.0.16": true, "5.0.7": true, "6.2.0": false, "7.0.15": false, "10.1.0": false, "": false, "unstable": false,
	} {
		conn, err := redisx.Open(t.Context(), redisx.Options{URL: serverOfVersion(t, version)})
		if errors.Is(err, redisx.ErrTooOld) != old || !old && err != nil {
			t.Errorf("version %q: %v", version, err)
		}
		if err == nil {
			if hidden := len(conn.Warnings(t.Context())) > 0; hidden != (version == "") {
				t.Errorf("version %q: warnings %q", version, conn.Warnings(t.Context()))
			}
			must(t, conn.Close())
		}
	}
}

// serverOfVersion answers only what the check of a version needs; INFO is forbidden
// when the version is empty.
func serverOfVersion(t *testing.T, version string) string {
	t.Helper()
	fake, err := server.NewServer("127.0.0.1:0")
	must(t, err)
	t.Cleanup(fake.Close)
	must(t, fake.Register("PING", func(peer *server.Peer, _ string, _ []string) { peer.WriteInline("PONG") }))
	must(t, fake.Register("INFO", func(peer *server.Peer, _ string, _ []string) {
		if version == "" {
			peer.WriteError("NOPERM this user has no permissions to run the 'info' command")
			return
		}
		peer.WriteBulk("# Server\r\nredis_version:" + version + "\r\n")
	}))
	return "redis://" + fake.Addr().String()
}

// withTLS returns the address of a port that speaks TLS and has a server behind it.
func withTLS(t *testing.T, behind string) string {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(certified.Close)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", certified.TLS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", behind)
			if err != nil {
				_ = conn.Close()
				return
			}
			go func() { _, _ = io.Copy(server, conn); _ = server.Close() }()
			go func() { _, _ = io.Copy(conn, server); _ = conn.Close() }()
		}
	}()
	return listener.Addr().String()
}

// A URL with TLS for a port without, and the other way round, is named as what it is, soon.
func TestAURLWithTheWrongSchemeIsNamed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	withPassword := redistest.Start(t)
	if err := redistest.Open(t, withPassword.URL).Client().ConfigSet(t.Context(), "requirepass", "secret-hush").Err(); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"rediss://" + server.Addr:                               "begin the URL with redis, not rediss",
		"rediss://:secret-hush@" + withPassword.Addr:            "begin the URL with redis, not rediss",
		"rediss-cluster://" + server.Addr:                       "begin the URL with redis, not rediss",
		"redis://" + withTLS(t, server.Addr):                    "begin the URL with rediss, not redis",
		"redis://:secret-hush@" + withTLS(t, withPassword.Addr): "begin the URL with rediss, not redis",
		"rediss://" + withTLS(t, server.Addr):                   "certificate signed by unknown authority",
		"redis://" + redistest.FreeAddress(t):                   "connection refused",
		"redis://:wrong-hush@" + withPassword.Addr:              "WRONGPASS",
	} {
		begun := time.Now()
		conn, err := redisx.Open(t.Context(), redisx.Options{URL: url})
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s: no error, want %s", redisx.Redact(url), want)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, want %s", redisx.Redact(url), err, want)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("%s: it took %s", redisx.Redact(url), took)
		}
	}
}

// TestBoundEndsWhatASilentServerDoesNot: commands and pipelines of a bounded context end, each after
// its time, whatever the deadline of the context.
func TestBoundEndsWhatASilentServerDoesNot(t *testing.T) {
	t.Parallel()
	line := redistest.Proxy(t, miniredis.RunT(t).Addr())
	client := redistest.Open(t, line.URL).Client()
	line.Delay(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	ctx = redisx.Bound(ctx, 50*time.Millisecond)
	pipe := client.Pipeline()
	pipe.Get(ctx, "key")
	_, pipelined := pipe.Exec(ctx)
	for name, err := range map[string]error{"command": client.Get(ctx, "key").Err(), "pipeline": pipelined} {
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			t.Errorf("%s: got %v, with the context %v; want that its own time is over", name, err, ctx.Err())
		}
	}
}

func TestEveryKindIsShownByAsynqmon(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client := asynq.NewClient(conn.AsynqOpt())
		defer client.Close()
		_, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Queue("scrape"))
		must(t, err)

		monitor := asynqmon.New(asynqmon.Options{RootPath: "/m", RedisConnOpt: conn.AsynqOpt()})
		for _, path := range []string{"/m/", "/m/api/queues", "/m/api/queues/scrape/pending_tasks", "/m/api/redis_info"} {
			answer := httptest.NewRecorder()
			monitor.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
			if answer.Code != http.StatusOK {
				t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
			}
		}
		must(t, monitor.Close())
		must(t, conn.Client().Ping(t.Context()).Err())
	})
}
