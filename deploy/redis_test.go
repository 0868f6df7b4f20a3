package deploy

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api"
	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/app"
	"ushuru/pkg/client"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
	"ushuru/tasks"
)

// users connects the users of the services, by their names.
func users(t *testing.T, socket string, files map[string]string) map[string]*redisx.Conn {
	t.Helper()
	passwords := regexp.MustCompile(`redis://([a-z]+):([0-9a-f]+)@redis:6379/0`)
	found := map[string]*redisx.Conn{}
	for name, text := range files {
		if match := passwords.FindStringSubmatch(text); match != nil {
			found[match[1]] = as(t, socket, match[1], match[2])
			if name != match[1]+".env" {
				t.Errorf("%s is the user %s", name, match[1])
			}
		}
	}
	if len(found) != 4 {
		t.Fatalf("%d users", len(found))
	}
	return found
}

// allowed returns the commands that the services may use, in upper case.
func allowed(t *testing.T) []string {
	t.Helper()
	_, list, found := strings.Cut(read(t, "redis/users"), "\n{COMMANDS}\n")
	list, _, ends := strings.Cut(list, "\n{WORK}\n")
	if !found || !ends {
		t.Fatal("redis/users has no list of commands")
	}
	commands := []string{"PUBLISH", "SUBSCRIBE"} // of some channels, which the lines of the users name
	for word := range strings.FieldsSeq(list) {
		commands = append(commands, strings.ToUpper(strings.TrimPrefix(word, "+")))
	}
	return commands
}

// directions are who publishes to a channel, and who hears it.
var directions = map[string][2][]string{
	"jobs:ended":     {{"api", "worker", "ai", "authority"}, {"api", "worker", "ai", "authority"}},
	"tasks:enqueued": {{"api", "worker", "ai", "authority"}, {"worker", "ai", "authority"}},
	"keys:changed":   {{"api"}, {"api"}},
	"asynq:cancel":   {{"api", "worker"}, {"worker", "ai", "authority"}},
	"another":        {},
}

// Every command of Redis that is not in the list is refused to every service, and no
// worker reads or writes the keys of callers.
func TestServicesMayDoNothingElse(t *testing.T) {
	t.Parallel()
	files := newEnv(t)
	socket := startRedis(t, files["redis.env"])
	operator := as(t, socket, "operator", value(t, files["redis.env"], "REDIS_OPERATOR_PASSWORD"))
	if err := operator.Client().ConfigGet(t.Context(), "maxmemory").Err(); err != nil {
		t.Errorf("the operator: %v", err)
	}
	commands, err := operator.Client().Do(t.Context(), "COMMAND", "LIST").StringSlice()
	if err != nil || len(commands) < 200 {
		t.Fatalf("%d commands, %v", len(commands), err)
	}
	list := allowed(t)
	may := func(user string, command ...any) bool {
		t.Helper()
		said, err := operator.Client().Do(t.Context(), append([]any{"ACL", "DRYRUN", user}, command...)...).Text()
		if err != nil {
			t.Fatalf("%s %v: %v", user, command, err)
		}
		return said == "OK"
	}
	for user, conn := range users(t, socket, files) {
		if found := conn.Warnings(t.Context()); len(found) != 0 {
			t.Errorf("%s: %v", user, found)
		}
		for _, command := range commands {
			name := strings.ToUpper(command)
			hasParts := slices.ContainsFunc(commands, func(other string) bool { return strings.HasPrefix(other, command+"|") })
			isIn := slices.ContainsFunc(list, func(a string) bool {
				return a == name || strings.HasPrefix(a, name+"|") || strings.HasPrefix(name, a+"|")
			})
			isFree := name == "RESET" || name == "QUIT" // of the connection: no one can be refused them
			if !isIn && !isFree && !hasParts && !isRefused(t, conn, name) {
				t.Errorf("%s may %s", user, name)
			}
		}
		for _, command := range [][]any{{"CLIENT", "KILL", "ID", "1"}, {"CLUSTER", "RESET"}, {"MEMORY", "PURGE"}, {"CONFIG", "GET", "*"}} {
			if may(user, command...) {
				t.Errorf("%s may %v", user, command)
			}
		}
		for channel, sides := range directions {
			for i, command := range [][]any{{"PUBLISH", channel, "x"}, {"SUBSCRIBE", channel}} {
				if may(user, command...) != slices.Contains(sides[i], user) {
					t.Errorf("%s and %v", user, command)
				}
			}
		}
		if !may(user, "SET", "ready:probe", "", "EX", "60") {
			t.Errorf("%s is never ready: it may not write ready:probe", user)
		}
		for _, key := range []string{"key:abc", "keys:index", "idempotency:abc", "page:secret", "page:link:TOKEN"} {
			if may(user, "SET", key, "x") != (user == "api") {
				t.Errorf("%s and the key %s", user, key)
			}
		}
		if may(user, "GET", "key:abc") == (user == "authority") || may(user, "GET", "page:secret") != (user == "api") {
			t.Errorf("%s reads what it does not need", user)
		}
		if may(user, "GET", "ai:answer:1") == (user == "authority") || may(user, "SET", "fetch:pause:{a}", "1") == (user == "authority") {
			t.Errorf("%s and what the worker in Tanzania does not need", user)
		}
	}
	anybody, err := redisx.Open(t.Context(), redisx.Options{URL: "redis-socket://" + socket})
	if err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("without a login: %v, %v", anybody, err)
	}
}

// isRefused reports whether a user may not use a command, with whatever arguments: how
// many there must be is checked before.
func isRefused(t *testing.T, conn *redisx.Conn, name string) bool {
	t.Helper()
	var words []any
	for word := range strings.SplitSeq(name, "|") {
		words = append(words, word)
	}
	for range 12 {
		err := conn.Client().Do(t.Context(), words...).Err()
		if err == nil || !strings.Contains(err.Error(), "wrong number of arguments") {
			return err != nil && (strings.Contains(err.Error(), "NOPERM") || strings.Contains(err.Error(), "command not allowed"))
		}
		words = append(words, "x")
	}
	return false
}

// inScripts matches the commands of the scripts that run in Redis, inCode the calls of the
// client.
var (
	inScripts = regexp.MustCompile(`redis\.p?call\(['"]([A-Z]+)['"]`)
	inCode    = regexp.MustCompile(`\.([A-Z][A-Za-z]+)\(ctx\b`)
)

// Every command that the code names is in the list, also those that no scenario reaches.
func TestTheListHasTheCommandsOfTheCode(t *testing.T) {
	t.Parallel()
	list := allowed(t)
	methods := reflect.TypeFor[redis.Cmdable]()
	named := map[string]string{
		"ZRANGEWITHSCORES": "ZRANGE", "ZREVRANGEWITHSCORES": "ZREVRANGE", "ZADDXX": "ZADD", "INFOMAP": "INFO", "PIPELINED": "MULTI",
		"TXPIPELINED": "MULTI", "CLUSTERINFO": "CLUSTER|INFO", "CLUSTERSLOTS": "CLUSTER|SLOTS", "CLUSTERKEYSLOT": "CLUSTER|KEYSLOT",
		"EVALSHARO": "EVALSHA", "ZADDNX": "ZADD", "ZADDARGS": "ZADD", "SETARGS": "SET", "EXPIRENX": "EXPIRE", "EXPIREGT": "EXPIRE",
		"HELLO": "HELLO", "MEMORYUSAGE": "MEMORY|USAGE", "ZRANGEARGS": "ZRANGE", "ZRANGEARGSWITHSCORES": "ZRANGE",
		"ZRANGEBYSCOREWITHSCORES": "ZRANGEBYSCORE", "ZREVRANGEBYSCOREWITHSCORES": "ZREVRANGEBYSCORE",
	}
	operators := []string{"SCAN"}    // of commands that the operator runs
	ofOthers := []string{"SHUTDOWN"} // methods of others with the name of a command
	for file, text := range sources(t) {
		for _, match := range inScripts.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(list, match[1]) {
				t.Errorf("%s has a script with %s, which deploy/redis/users does not allow", file, match[1])
			}
		}
		for _, match := range inCode.FindAllStringSubmatch(text, -1) {
			name := strings.ToUpper(match[1])
			if _, is := methods.MethodByName(match[1]); !is || slices.Contains(ofOthers, name) {
				continue
			}
			if other, is := named[name]; is {
				name = other
			}
			if !slices.Contains(list, name) && !slices.Contains(operators, name) {
				t.Errorf("%s calls %s, which deploy/redis/users does not allow", file, name)
			}
		}
	}
}

// services are an API and one worker of each role, each as its own user of Redis.
type services struct {
	url, site, key, password string
}

const operatorPassword = "a password of the page"

// canBeScraped checks that a process may read as its user what it shows of Redis.
func canBeScraped(t *testing.T, user string, process *app.App) {
	t.Helper()
	families, err := process.Metrics().Registry().Gather()
	if err != nil {
		t.Errorf("%s: %v", user, err)
	}
	found := map[string]bool{}
	for _, family := range families {
		found[family.GetName()] = true
	}
	for _, name := range []string{
		"redis_up", "redis_writable", "redis_memory_bytes", "redis_unsaved", "redis_volatile", "redis_loss_timestamp_seconds", "clock_offset_seconds",
		"queue_tasks", "queue_oldest_seconds", "jobs_oldest_seconds", "workers", "tasks_overdue", "authority_state", "catalogue_quarantined", "ai_budget_used_tokens",
	} {
		if !found["ushuru_"+name] {
			t.Errorf("the user %s may not read what gives ushuru_%s", user, name)
		}
	}
}

// startServices starts them with simulators of everything else.
func startServices(t *testing.T, conns map[string]*redisx.Conn, operator *redisx.Conn) services {
	t.Helper()
	simulator, err := tratest.New(tratest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	serve := func(handler http.Handler) string {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return server.URL
	}
	authority, site, model := serve(simulator), serve(listingtest.New()), serve(aitest.New(aitest.Options{}))
	key, _, err := keys.NewStore(operator.Client()).Create(t.Context(), "drill")
	if err != nil {
		t.Fatal(err)
	}
	start := func(user string, o app.Options) {
		o.Redis, o.Log, o.AllowLoopback, o.Simulated = conns[user], slog.New(slog.DiscardHandler), true, true
		process, err := app.New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(process.Stop)
		if err := process.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		canBeScraped(t, user, process)
	}
	for user, role := range map[string]tasks.Role{"worker": tasks.RoleAny, "ai": tasks.RoleAI, "authority": tasks.RoleAuthority} {
		worker := &app.WorkerOptions{Roles: []tasks.Role{role}, ShutdownTimeout: 5 * time.Second}
		worker.Authority = tra.Options{BaseURL: authority + tratest.Path, Timeout: 10 * time.Second}
		worker.AI = ai.Options{
			Endpoints: []ai.Endpoint{{BaseURL: model + aitest.Path, Model: aitest.Mark, Key: aitest.Mark}},
			Timeout:   10 * time.Second, AnswerTTL: time.Hour, DailyTokens: 1_000_000,
		}
		start(user, app.Options{Worker: worker, KeyAITokens: 500_000})
	}
	listener, err := app.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	start("api", app.Options{KeyAITokens: 500_000, API: &app.APIOptions{
		Listener: listener, WaitMax: time.Minute, Page: api.PageOptions{Enabled: true},
		MonitoringUser: "operator", MonitoringPassword: operatorPassword, MonitoringWritable: true,
	}})
	return services{"http://" + listener.Addr().String(), site, key, operatorPassword}
}

// The whole service works with the users: no process tries what its user may not.
func TestServiceWorksWithTheUsersOfRedis(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	files := newEnv(t)
	socket := startRedis(t, files["redis.env"])
	operator := as(t, socket, "operator", value(t, files["redis.env"], "REDIS_OPERATOR_PASSWORD"))
	s := startServices(t, users(t, socket, files), operator)
	caller, err := client.New(client.Options{URL: s.url, Key: s.key})
	if err != nil {
		t.Fatal(err)
	}
	s.callEverything(t, caller)
	s.lookAtPages(t)
	log, err := operator.Client().Do(t.Context(), "ACL", "LOG").Slice()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range log {
		t.Errorf("a user tried what it may not: %v", entry)
	}
}

// callEverything calls the endpoints that do different things in Redis.
func (s services) callEverything(t *testing.T, caller *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cars := listingtest.Cars()
	first, second := s.site+cars[0].Path(), s.site+cars[1].Path()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := caller.Estimate(ctx, client.EstimateRequest{URL: first})
	must("estimate", err)
	_, err = caller.Compare(ctx, client.CompareRequest{URL1: first, URL2: second})
	must("compare", err)
	_, err = caller.ConditionReport(ctx, client.ReportRequest{URL: s.site + "/sheets/sm100001.jpg"}) // asks for the limits of the key
	must("condition report", err)
	_, err = caller.Do(ctx, client.Request{Path: "/v1/vehicles?make=TOYOTA"})
	must("vehicles", err)
	_, err = caller.TRAStatus(ctx)
	must("status", err)
	hook, err := client.Send[client.Webhook](ctx, caller, "POST /v1/webhooks", client.WebhookRequest{URL: "https://example.com/", Events: []string{"job.completed"}})
	must("webhook", err)
	if err == nil {
		_, err = caller.Do(ctx, client.Request{Path: "/v1/webhooks/" + hook.ID + "/deliveries"})
		must("deliveries", err)
		_, err = caller.Do(ctx, client.Request{Method: http.MethodDelete, Path: "/v1/webhooks/" + hook.ID})
		must("delete webhook", err)
	}
	table := "url\n" + s.site + cars[2].Path() + "\n" + s.site + cars[3].Path() + "\n" + s.site + "/gone\n"
	batch, err := caller.CreateBatchFromTable(ctx, client.BatchTable{Type: "text/csv", Data: []byte(table)}, "a table")
	if err != nil {
		t.Fatalf("batch: %v", err)
	}
	_, err = caller.Do(ctx, client.Request{Path: client.BatchPath(batch.ID) + "/events"}) // until the batch has ended
	must("events", err)
	file, err := caller.BatchFile(ctx, batch.ID, "xlsx", url.Values{})
	must("results", err)
	if err == nil {
		_, err = io.Copy(io.Discard, file)
		must("results", err)
		must("results", file.Close())
	}
	_, err = client.Send[client.Batch](ctx, caller, "POST "+client.BatchPath(batch.ID)+"/retry", nil)
	must("retry", err)
	_, err = client.Send[client.Batch](ctx, caller, "DELETE "+client.BatchPath(batch.ID), nil)
	must("cancel", err)
	must("ready", caller.Ready(ctx))
}

// lookAtPages opens the operator's and the buyers' pages.
func (s services) lookAtPages(t *testing.T) {
	t.Helper()
	for _, path := range []string{"/", "/hand", "/monitoring/api/queues", "/monitoring/api/redis_info", "/monitoring/api/servers"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, "/monitoring") {
			request.SetBasicAuth("operator", s.password)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, response.StatusCode, text)
		}
	}
	form := url.Values{"u": {s.site + listingtest.Cars()[4].Path()}}
	response, err := http.PostForm(s.url+"/go", form)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
}
