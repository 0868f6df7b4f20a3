package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"ushuru/api"
	"ushuru/api/web"
	"ushuru/pkg/ai"
	"ushuru/pkg/app"
	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/service"
	"ushuru/pkg/connlimit"
	"ushuru/pkg/fetch"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/pkg/trace"
	"ushuru/pkg/webhook"
	"ushuru/tasks"
)

// The structs below are the table of all settings: name, environment
// variable, type, default and help. Parsing, --help and docs/configuration.md
// come from it.

// The tag range is explained in settings.go.

// Secret is a setting that is never printed.
type Secret = console.Secret

// common are the settings of every command.
type common struct {
	Env       string `env:"USHURU_ENV" enum:"development,production" default:"development" help:"production refuses the embedded Redis, the demo and pages on this machine."`
	LogLevel  string `env:"LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Minimum log level."`
	LogFormat string `env:"LOG_FORMAT" enum:"json,text" default:"json" help:"Form of the log: json lines, or text for a terminal."`
}

func (c common) production() bool { return c.Env == "production" }

// adminConfig is about the address for operators.
type adminConfig struct {
	AdminAddr adminAddress `env:"ADMIN_ADDR" placeholder:"HOST:PORT" help:"Address of /metrics, /healthz, /readyz and, from this machine, /debug/pprof, without authentication; empty is on 127.0.0.1, if that is free: 9464 (API), 9465 (workers), 9466 (role ai alone), 9467 (role authority alone); off serves none."`
}

// Default addresses for operators, so that an API and a worker of each role on one machine have
// each its own.
var defaultAdmin = []string{"127.0.0.1:9464", "127.0.0.1:9465", "127.0.0.1:9466", "127.0.0.1:9467"}

// options returns the address of a process.
func (c adminConfig) options(p parts) app.Admin {
	switch {
	case c.AdminAddr == "off":
		return app.Admin{}
	case c.AdminAddr != "":
		return app.Admin{Addr: string(c.AdminAddr)}
	case p.http != nil:
		return app.Admin{Addr: defaultAdmin[0], Optional: true}
	case slices.Equal(p.worker.Roles, []tasks.Role{tasks.RoleAI}):
		return app.Admin{Addr: defaultAdmin[2], Optional: true}
	case slices.Equal(p.worker.Roles, []tasks.Role{tasks.RoleAuthority}):
		return app.Admin{Addr: defaultAdmin[3], Optional: true}
	}
	return app.Admin{Addr: defaultAdmin[1], Optional: true}
}

// secretsConfig is about secrets that are stored.
type secretsConfig struct {
	SecretsKey Secret `env:"SECRETS_KEY" help:"Key that seals the secrets of webhooks in Redis: 32 bytes in base64; of several, by commas, the first seals and all open; the same on API and workers of the role any; required in production."`
}

// ring returns the keys that seal secrets.
func (c secretsConfig) ring() (*webhook.Ring, error) {
	ring, err := webhook.ParseRing(string(c.SecretsKey))
	if err != nil {
		return nil, fmt.Errorf("SECRETS_KEY: %w", err)
	}
	return ring, nil
}

// Validate is called by kong.
func (c secretsConfig) Validate() error {
	_, err := c.ring()
	return err
}

// httpConfig is about the API.
type httpConfig struct {
	Listen             address        `env:"LISTEN_ADDR,PORT" default:":8080" help:"Address to listen on; a bare number is a port."`
	WaitMax            time.Duration  `env:"WAIT_MAX" default:"25s" range:"1s..10m" help:"Maximum time a POST waits before it answers 504; the work continues."`
	DrainDelay         time.Duration  `env:"DRAIN_DELAY" default:"5s" range:"0s..5m" help:"How long requests are still accepted after SIGTERM, while /readyz answers 503, so that a balancer can send them elsewhere."`
	RedisWaitReplicas  int            `env:"REDIS_WAIT_REPLICAS" default:"0" range:"0..10" help:"Replicas of Redis that must confirm a job, batch or webhook before 202 or 201 is answered; else 503; 0 answers without."`
	KeyRate            int            `env:"KEY_RATE" default:"300" range:"0..1000000" help:"Requests per minute and key that start work, create a webhook or send to one; 0 means no limit; cached answers do not count."`
	KeyJobs            int            `env:"KEY_JOBS" default:"100" range:"0..1000000" help:"Maximum running jobs per key, without batches; 0 means no limit."`
	KeyBatchItems      int            `env:"KEY_BATCH_ITEMS" default:"30000" range:"0..100000000" help:"Maximum listings per key in running batches; 0 means no limit."`
	KeyBytes           console.Size   `env:"KEY_BYTES" default:"288MB" range:"0..1000000000000" help:"Maximum bytes per key that are kept in Redis because of it: uploads, batches, results and records; running work may add up to 64MB; 0 means no limit."`
	TrustedProxies     []netip.Prefix `env:"TRUSTED_PROXIES" default:"127.0.0.0/8,10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,::1/128,fc00::/7" help:"Networks of proxies in front of the API: their X-Forwarded-For is believed, and their connections are not counted by address."`
	Page               bool           `env:"PAGE" help:"Serve the pages for buyers at / and those for programmers at /docs, to visitors without an API key."`
	PageURL            string         `env:"PAGE_URL" placeholder:"URL" help:"Public address of the pages, for the links that they give: https://ushuru.example; in production it must be set."`
	PageAbout          string         `env:"PAGE_ABOUT" placeholder:"TEXT" help:"Who runs the pages and how to reach them, for /about."`
	PageJobs           int            `env:"PAGE_JOBS" default:"40" range:"1..100000" help:"Maximum running jobs of the visitors of one network at the pages."`
	OperatorPassword   Secret         `env:"OPERATOR_PASSWORD" help:"Password for /console and /monitoring, at least 12 characters; empty disables the pages."`
	MonitoringWritable bool           `env:"MONITORING_WRITABLE" help:"Allow the operator to pause queues and to run or delete tasks."`
}

// options opens the port of the API.
func (c httpConfig) options(ctx context.Context) (*app.APIOptions, error) {
	listener, err := app.Listen(ctx, string(c.Listen))
	return &app.APIOptions{
		Listener: listener, WaitMax: c.WaitMax, DrainDelay: c.DrainDelay, WaitReplicas: c.RedisWaitReplicas,
		Limits: pace.Limits{
			PerMinute: c.KeyRate, Jobs: c.KeyJobs, BatchItems: c.KeyBatchItems, Bytes: int64(c.KeyBytes),
		},
		Connections: connlimit.Options{Max: maxConnections, PerAddress: maxPerAddress, Trusted: c.TrustedProxies},
		Page: api.PageOptions{
			Enabled: c.Page, BaseURL: c.PageURL, About: c.PageAbout, Jobs: c.PageJobs, Rate: pageRate,
		},
		MonitoringUser: operatorUser, MonitoringPassword: string(c.OperatorPassword), MonitoringWritable: c.MonitoringWritable,
	}, err
}

const (
	minPasswordLength = 12
	minKeyBytes       = 1 << 20

	operatorUser = "operator"
	// What a process holds open: about 20 KB of memory each, well below the open files that
	// systemd and Docker allow. An address has a tenth, which is an office behind one router.
	maxConnections, maxPerAddress = 5000, 500
	// fetchTimeout is the time for one page: the slowest exporter answers in about ten seconds.
	fetchTimeout = 30 * time.Second
	// aiAnswerTTL is how long an answer of the AI is kept: as long as results are.
	aiAnswerTTL = 30 * 24 * time.Hour
	// pageRate is the number of requests a minute of one network that start work.
	pageRate = 120
)

// Validate is called by kong.
func (c httpConfig) Validate() error {
	if n := len(c.OperatorPassword); n > 0 && n < minPasswordLength {
		return fmt.Errorf("OPERATOR_PASSWORD has %d characters; it must have at least %d", n, minPasswordLength)
	}
	if c.KeyBytes > 0 && c.KeyBytes < minKeyBytes {
		return fmt.Errorf("KEY_BYTES is %d bytes, which no work fits in; it must be 0 or at least 1MB, for example 288MB",
			c.KeyBytes)
	}
	if err := web.CheckBaseURL(c.PageURL); err != nil {
		return fmt.Errorf("PAGE_URL: %w", err)
	}
	return nil
}

// workerConfig is about the workers.
type workerConfig struct {
	AIConfig
	Roles         []tasks.Role `env:"ROLES" default:"any,authority,ai" help:"Roles of the worker: any (read and match), ai (read sheets, recommend), authority (call TRA; must run in Tanzania)."`
	Concurrency   int          `env:"CONCURRENCY" default:"16" range:"1..10000" help:"Maximum concurrent steps of the role any."`
	SheetCacheDir string       `env:"SHEET_CACHE_DIR" type:"path" help:"Directory for the compiled PDF reader; only this user may write there."`
	FetchRate     int          `env:"FETCH_RATE" default:"1" range:"0..10000" help:"Maximum pages per second and site for all workers, plus three for interactive requests, of which one key uses two thirds; four times as many per address of sites that are not known; 0 means no limit."`
	DenyNets      []string     `env:"DENY_NETS" placeholder:"PREFIX,..." help:"Addresses and prefixes that are never connected to for listings, sheets and webhooks, besides those that are not public and host services of clouds."`
	UserAgent     string       `env:"USER_AGENT" help:"User-Agent sent to listing sites; empty is one like that of a browser."`
}

// Validate is called by kong.
func (c workerConfig) Validate() error {
	for _, role := range c.Roles {
		if !slices.Contains(tasks.Roles, role) {
			return fmt.Errorf("ROLES: unknown role %q; valid: %v", role, tasks.Roles)
		}
	}
	if err := c.AIConfig.Validate(); err != nil { // which kong does not see inside this struct
		return err
	}
	if _, err := fetch.ParsePrefixes(c.DenyNets); err != nil {
		return fmt.Errorf("DENY_NETS: %w", err)
	}
	if len(c.Roles) == 0 {
		return errors.New("ROLES must name a role")
	}
	if strings.ContainsFunc(c.UserAgent, unicode.IsControl) {
		return errors.New("USER_AGENT must be one line")
	}
	return nil
}

// options returns the options of the workers.
func (c workerConfig) options(authority authorityConfig) (*app.WorkerOptions, error) {
	model, err := c.AIConfig.options()
	denied, _ := fetch.ParsePrefixes(c.DenyNets) // Validate has parsed them
	return &app.WorkerOptions{
		Roles: c.Roles, Concurrency: c.Concurrency,
		Fetch:         fetch.Options{Timeout: fetchTimeout, UserAgent: c.UserAgent, Rate: c.FetchRate, DenyNets: denied},
		SheetCacheDir: c.SheetCacheDir, AI: model,
		Authority:     authority.options(),
		AuthorityRate: authority.AuthorityRate,
	}, err
}

// AIConfig is about the AI, which matches cars without a decisive chassis code,
// reads inspection sheets. It is disabled without a
// model. Several endpoints are lists of the same length.
type AIConfig struct {
	AIModel   string            `name:"ai-model" env:"AI_MODEL" help:"Model that matches cars without a decisive chassis code, reads sheets (needs vision); several, by commas, are tried in order; empty disables the AI."`
	AIBaseURL string            `name:"ai-base-url" env:"AI_BASE_URL" placeholder:"URL" default:"https://api.openai.com/v1" help:"Base URL of an OpenAI-compatible API, one per model."`
	AIAPIKey  Secret            `name:"ai-api-key" env:"AI_API_KEY" help:"API key, one per model; an entry may be empty."`
	Day       service.DayBudget `embed:""`
}

// Validate is called by kong.
func (c AIConfig) Validate() error {
	_, err := c.endpoints()
	return err
}

// endpoints parses the lists of the settings. It returns none when the AI is
// disabled. Its errors contain no setting that may hold a secret.
func (c AIConfig) endpoints() ([]ai.Endpoint, error) {
	if c.AIModel == "" {
		if c.AIAPIKey != "" {
			return nil, errors.New("AI_API_KEY is set but AI_MODEL is empty: the AI is disabled")
		}
		return nil, nil
	}
	models, urls := commaList(c.AIModel), commaList(c.AIBaseURL)
	keys := make([]string, len(models))
	if c.AIAPIKey != "" {
		keys = commaList(string(c.AIAPIKey))
	}
	if len(urls) != len(models) || len(keys) != len(models) {
		return nil, errors.New("AI_BASE_URL and AI_API_KEY need as many entries as AI_MODEL, or none")
	}
	endpoints := make([]ai.Endpoint, len(models))
	for i, model := range models {
		endpoints[i] = ai.Endpoint{BaseURL: urls[i], Model: model, Key: ai.Key(keys[i])}
	}
	_, err := ai.New(ai.Options{Endpoints: endpoints}) // which checks each
	return endpoints, err
}

func commaList(setting string) []string {
	entries := strings.Split(setting, ",")
	for i := range entries {
		entries[i] = strings.TrimSpace(entries[i])
	}
	return entries
}

// options returns the options of the AI client. Without endpoints there is no
// AI.
func (c AIConfig) options() (ai.Options, error) {
	endpoints, err := c.endpoints()
	return ai.Options{Endpoints: endpoints, DailyTokens: c.Day.AIDailyTokens, AnswerTTL: aiAnswerTTL}, err
}

// authorityConfig is about the tax authority's calculator.
type authorityConfig struct {
	AuthorityURL     string        `env:"AUTHORITY_URL" placeholder:"URL" default:"https://taxpayerportal.tra.go.tz/umvvs-api/ExternalCalculator" help:"Base URL of TRA's calculator."`
	AuthorityProxy   Secret        `env:"AUTHORITY_PROXY" placeholder:"URL" help:"Proxy in Tanzania for the calls to TRA only: https://, http:// (CONNECT) or socks5://, with [user:password@]host:port."`
	AuthorityTimeout time.Duration `env:"AUTHORITY_TIMEOUT" default:"60s" range:"1ms..10m" help:"Maximum time for one call."`
	AuthorityRate    int           `env:"AUTHORITY_RATE" default:"5" range:"0..10000" help:"Maximum calls per second for all workers; 0 means no limit."`
	AuthorityCAFile  string        `env:"AUTHORITY_CA_FILE" type:"path" help:"PEM file of certificates to trust in addition to the system's."`
}

// Validate is called by kong.
func (c authorityConfig) Validate() error {
	if _, err := tra.ParseProxy(string(c.AuthorityProxy)); err != nil {
		return fmt.Errorf("AUTHORITY_PROXY: %w", err)
	}
	if err := tra.CheckBaseURL(c.AuthorityURL); err != nil {
		return fmt.Errorf("AUTHORITY_URL: %w", err)
	}
	return nil
}

func (c authorityConfig) options() tra.Options {
	return tra.Options{
		BaseURL: c.AuthorityURL, Timeout: c.AuthorityTimeout, CAFile: c.AuthorityCAFile, Proxy: string(c.AuthorityProxy),
	}
}

// traceConfig is about traces, in the variable of OpenTelemetry. Its SDK reads others from the
// environment, such as OTEL_EXPORTER_OTLP_HEADERS.
type traceConfig struct {
	TraceEndpoint string `name:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" help:"Base URL of an OpenTelemetry collector (OTLP over HTTP), such as http://localhost:4318, that gets a trace of every request; empty records none."`
}

// options returns the collector.
func (c traceConfig) options() (trace.Options, error) {
	if c.TraceEndpoint == "" {
		return trace.Options{}, nil
	}
	base, err := url.Parse(c.TraceEndpoint)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return trace.Options{}, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be of the form http://host:4318")
	}
	return trace.Options{URL: base.JoinPath("v1/traces").String()}, nil
}

// sheetConfig is about inspection sheets: the API refuses the URLs of other
// hosts, and workers do not fetch from them.
type sheetConfig struct {
	SheetHosts []string `env:"SHEET_HOSTS" help:"Additional hosts, with subdomains, for inspection sheets; the same on API and workers."`
}

// costConfig is about the costs of a car other than TRA's taxes.
type costConfig struct {
	CostTables string `env:"COST_TABLES" type:"path" help:"JSON file whose fees replace the embedded ones (format of pkg/cost/tables.json)."`
}

// adminAddress is an address, or off.
type adminAddress address

// UnmarshalText is called by kong.
func (a *adminAddress) UnmarshalText(text []byte) error {
	if string(text) == "off" {
		*a = "off"
		return nil
	}
	return (*address)(a).UnmarshalText(text)
}

// address is a TCP address; as a bare number, a port on all interfaces.
type address string

// UnmarshalText is called by kong.
func (a *address) UnmarshalText(text []byte) error {
	value := string(text)
	if _, err := strconv.ParseUint(value, 10, 16); err == nil {
		value = ":" + value
	}
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = new(net.Resolver).LookupPort(context.Background(), "tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%q is not an address with a port of 0 to 65535; examples: host:8080, :8080, 8080", value)
	}
	*a = address(value)
	return nil
}

// A tag of the settings in config.go besides those of kong: range:"1..5" has the bounds of a
// number, a duration or a size.
const tagRange = "range"

// checkRanges returns an error for each setting that is out of its range.
func checkRanges(flags []*kong.Flag) error {
	var errs []error
	for _, flag := range flags {
		if bounds := flag.Tag.Get(tagRange); bounds != "" {
			errs = append(errs, checkRange(flag, bounds))
		}
	}
	return errors.Join(errs...)
}

func checkRange(flag *kong.Flag, bounds string) error {
	from, to, _ := strings.Cut(bounds, "..")
	lowest, err1 := bound(flag.Target.Type(), from)
	highest, err2 := bound(flag.Target.Type(), to)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("the range of %s: %w", flag.Envs[0], err) // a mistake in config.go
	}
	if value := flag.Target.Int(); value < lowest || value > highest {
		return fmt.Errorf("%s must be between %s and %s; it is %v", flag.Envs[0], from, to, flag.Target.Interface())
	}
	return nil
}

// bound parses the bound of a range for a setting of a type.
func bound(of reflect.Type, text string) (int64, error) {
	if of == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		return int64(d), err
	}
	return strconv.ParseInt(text, 10, 64)
}

func isSecret(flag *kong.Flag) bool { return flag.Target.Type() == reflect.TypeFor[Secret]() }

// isURL reports whether a setting is a URL, of which only a password is secret.
func isURL(flag *kong.Flag) bool { return flag.PlaceHolder == "URL" }

// fileSuffix ends the name of a variable with the name of a file that has a secret.
const fileSuffix = "_FILE"

// maxSecretFile bounds a file with a secret.
const maxSecretFile = 64 << 10

// secretFromFile is a kong resolver: a secret X can be in the file that X_FILE names, as
// container platforms mount it. A line end at the end of the file is not part of it.
func secretFromFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !isSecret(flag) {
		return nil, nil //nolint:nilnil // kong goes on with the environment
	}
	for _, env := range flag.Envs {
		name := os.Getenv(env + fileSuffix)
		if name == "" {
			continue
		}
		if os.Getenv(env) != "" {
			return nil, fmt.Errorf("%s and %s%s are both set", env, env, fileSuffix)
		}
		info, err := os.Stat(name) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", env, fileSuffix, err)
		}
		if !info.Mode().IsRegular() || info.Size() > maxSecretFile {
			return nil, fmt.Errorf("%s%s: %s is not a file with a secret", env, fileSuffix, name)
		}
		data, err := os.ReadFile(name) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", env, fileSuffix, err)
		}
		secret := strings.TrimRight(string(data), "\r\n")
		if secret == "" {
			return nil, fmt.Errorf("%s%s: %s is empty", env, fileSuffix, name)
		}
		return secret, nil
	}
	return nil, nil //nolint:nilnil // there is no such file
}

// settingNames returns the names of all environment variables that a command line reads.
func settingNames(app *kong.Application) map[string]bool {
	names := map[string]bool{}
	for _, node := range append(app.Leaves(true), app.Node) {
		for _, flag := range node.Flags {
			for _, env := range flag.Envs {
				names[env] = true
				if isSecret(flag) {
					names[env+fileSuffix] = true
				}
			}
		}
	}
	return names
}

const (
	ourPrefix = "USHURU_"
	// testPrefix begins the variables of the tests.
	testPrefix = ourPrefix + "TEST"
	// minSimilar is the length from which a name that differs in a letter counts as
	// misspelled: shorter ones are too many.
	minSimilar = 7
	// minFarther is the length from which one counts that differs in maxFar letters.
	minFarther, maxFar = 10, 2
)

// serviceLink matches the variables that Kubernetes and Docker set for services beside this
// one, which may be named after it.
var serviceLink = regexp.MustCompile(
	`^\w+(_SERVICE_HOST|_SERVICE_PORT\w*|_PORT_\d+_(TCP|UDP|SCTP)\w*)=|^\w+_PORT=(tcp|udp|sctp)://`)

// unknownSettings returns a sentence for each variable of the environment that looks like a
// setting and is not one.
func unknownSettings(known map[string]bool, environ []string) (sentences []string) {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if known[name] || strings.HasPrefix(name, testPrefix) || serviceLink.MatchString(entry) {
			continue
		}
		bare, ours := strings.CutPrefix(name, ourPrefix)
		nearest := slices.MinFunc(names, func(a, b string) int {
			far := func(to string) int { return min(naming.Distance(name, to), naming.Distance(bare, to)) }
			return cmp.Compare(far(a), far(b))
		})
		far := min(naming.Distance(name, nearest), naming.Distance(bare, nearest))
		similar := len(name) >= minSimilar && far <= 1 || len(name) >= minFarther && far <= maxFar
		switch {
		case similar:
			sentences = append(sentences, fmt.Sprintf("%s is not a setting; did you mean %s?", name, nearest))
		case ours:
			sentences = append(sentences, name+" is not a setting")
		}
	}
	return sentences
}

// warnSecretFlags logs which secrets of a command line stand in the process list, where
// other users of the machine read them, and the variables to use instead.
func (r *run) warnSecretFlags(parsed *kong.Context) {
	for _, element := range parsed.Path {
		flag := element.Flag
		if flag == nil || element.Resolved || !isSecret(flag) {
			continue
		}
		value := flag.Target.String()
		if isURL(flag) && redisx.Redact(value) == value {
			continue // a URL without a password
		}
		r.log.Warn(fmt.Sprintf("--%s stands in the process list: set %s instead", flag.Name, flag.Envs[0]))
	}
}
