package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/fetch"
	"ushuru/pkg/quota"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// The structs below are the table of all settings: name, environment
// variable, type, default and help. Parsing, --help and docs/configuration.md
// come from it.

// Secret is a setting that is never printed.
type Secret string

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[redacted]"
}

// LogValue keeps a secret out of the log.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Common is what every command can be told.
type Common struct {
	Env      string `env:"USHURU_ENV" enum:"development,production" default:"development" help:"production refuses what is only good for trying out: the embedded Redis, the demo, pages on this machine."`
	LogLevel string `env:"LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Least level that is logged."`
}

func (c Common) production() bool { return c.Env == "production" }

// redisConfig says where Redis is.
type redisConfig struct {
	RedisURL      Secret `env:"REDIS_URL" placeholder:"URL" help:"redis://, rediss://, redis-socket://, redis-sentinel:// or redis-cluster:// URL."`
	RedisPoolSize int    `env:"REDIS_POOL_SIZE" default:"0" help:"Most connections to one server; 0 is ten for each CPU."`
}

// httpConfig is about the API.
type httpConfig struct {
	Listen             address       `env:"LISTEN_ADDR,PORT" default:":8080" help:"Address to listen on; a bare number is a port."`
	WaitMax            time.Duration `env:"WAIT_MAX" default:"60s" help:"How long a POST waits for its result before it answers 504 (the work goes on)."`
	KeyRate            int           `env:"KEY_RATE" default:"300" help:"Requests that begin work, make a webhook or have one sent to, which a key may send in a minute, unless it has a limit of its own; 0 is no limit. Answers from the cache are not counted."`
	KeyJobs            int           `env:"KEY_JOBS" default:"100" help:"Jobs a key may have at work at once, beside its batches; 0 is no limit."`
	KeyBatchItems      int           `env:"KEY_BATCH_ITEMS" default:"30000" help:"Listings a key may have in batches that have not ended; 0 is no limit."`
	OperatorUser       string        `env:"OPERATOR_USER" default:"operator" help:"User of the queue's page at /monitoring."`
	OperatorPassword   Secret        `env:"OPERATOR_PASSWORD" help:"Password of the queue's page, at least 12 characters. Without one there is no page."`
	MonitoringWritable bool          `env:"MONITORING_WRITABLE" help:"Let the operator pause queues and run or delete tasks on that page."`
}

// options opens the port of the API.
func (c httpConfig) options(ctx context.Context) (*app.APIOptions, error) {
	listener, err := app.Listen(ctx, string(c.Listen))
	return &app.APIOptions{
		Listener: listener, WaitMax: c.WaitMax,
		Limits:         quota.Limits{PerMinute: c.KeyRate, Jobs: c.KeyJobs, BatchItems: c.KeyBatchItems},
		MonitoringUser: c.OperatorUser, MonitoringPassword: string(c.OperatorPassword), MonitoringWritable: c.MonitoringWritable,
	}, err
}

const minPasswordLength = 12

// Validate is called by kong.
func (c httpConfig) Validate() error {
	if n := len(c.OperatorPassword); n > 0 && n < minPasswordLength {
		return fmt.Errorf("OPERATOR_PASSWORD has %d characters; it needs at least %d", n, minPasswordLength)
	}
	if c.WaitMax < time.Second || c.WaitMax > 10*time.Minute {
		return errors.New("WAIT_MAX must be between 1s and 10m")
	}
	if min(c.KeyRate, c.KeyJobs, c.KeyBatchItems) < 0 {
		return errors.New("KEY_RATE, KEY_JOBS and KEY_BATCH_ITEMS must not be negative; 0 is no limit")
	}
	return nil
}

// workerConfig is about the workers.
type workerConfig struct {
	aiConfig
	Roles                []tasks.Role  `env:"ROLES" default:"any,authority,ai" help:"What the worker does: any reads and matches listings and ai reads inspection sheets and recommends, both anywhere; authority asks the tax authority and must stand in Tanzania."`
	Concurrency          int           `env:"CONCURRENCY" default:"16" help:"Steps run at once in the role any."`
	AuthorityConcurrency int           `env:"AUTHORITY_CONCURRENCY" default:"8" help:"Steps run at once in the role authority."`
	BatchWindow          int           `env:"BATCH_WINDOW" default:"200" help:"Most listings of batches at work at once over all workers; the others wait their turn. The same for all workers."`
	AIConcurrency        int           `name:"ai-concurrency" env:"AI_CONCURRENCY" default:"4" help:"Steps run at once in the role ai."`
	SheetCacheDir        string        `env:"SHEET_CACHE_DIR" type:"path" help:"Directory where the role ai keeps its PDF reader as machine code (20 MB), so that it starts faster. It is run: nobody else may write there. Empty keeps it in memory."`
	ShutdownTimeout      time.Duration `env:"SHUTDOWN_TIMEOUT" default:"20s" help:"How long running steps may go on after SIGTERM; keep it below the platform's kill grace."`
	FetchTimeout         time.Duration `env:"FETCH_TIMEOUT" default:"30s" help:"Longest time for one listing page."`
	FetchRate            int           `env:"FETCH_RATE" default:"1" help:"Most pages per second of one listing site over all workers; three more when people wait; 0 is no limit."`
	MetricsAddr          address       `env:"METRICS_ADDR" placeholder:"HOST:PORT" help:"Where a worker shows its counters to Prometheus, at /metrics; anyone who reaches it may read them. Empty is nowhere."`
	UserAgent            string        `env:"USER_AGENT" help:"User-Agent sent to listing sites; empty is a browser-like one."`
}

// Validate is called by kong.
func (c workerConfig) Validate() error {
	for _, role := range c.Roles {
		if !slices.Contains(tasks.Roles, role) {
			return fmt.Errorf("ROLES: no such role %q; there are %v", role, tasks.Roles)
		}
	}
	if err := c.aiConfig.Validate(); err != nil { // which kong does not see inside this struct
		return err
	}
	if c.BatchWindow < 1 {
		return errors.New("BATCH_WINDOW must be at least 1")
	}
	if c.FetchRate < 0 {
		return errors.New("FETCH_RATE must not be negative")
	}
	if len(c.Roles) == 0 || c.Concurrency < 1 || c.AuthorityConcurrency < 1 || c.AIConcurrency < 1 {
		return errors.New("a worker needs a role, and CONCURRENCY, AUTHORITY_CONCURRENCY and AI_CONCURRENCY of at least 1")
	}
	return nil
}

// options returns the options of the workers.
func (c workerConfig) options(authority authorityConfig) (*app.WorkerOptions, error) {
	model, err := c.aiConfig.options()
	return &app.WorkerOptions{
		Roles: c.Roles, Concurrency: c.Concurrency, AuthorityConcurrency: c.AuthorityConcurrency,
		AIConcurrency: c.AIConcurrency, BatchWindow: c.BatchWindow, ShutdownTimeout: c.ShutdownTimeout,
		Fetch:         fetch.Options{Timeout: c.FetchTimeout, UserAgent: c.UserAgent, Rate: c.FetchRate},
		SheetCacheDir: c.SheetCacheDir, AI: model, AIRuns: c.AIRuns,
		Authority: tra.Options{
			BaseURL: authority.AuthorityURL, Timeout: authority.AuthorityTimeout, CAFile: authority.AuthorityCAFile,
		},
		AuthorityRate: authority.AuthorityRate,
	}, err
}

// aiConfig is about the AI, which chooses where no chassis code decides, reads
// inspection sheets and words recommendations. It is off without a model. Several endpoints are lists of the same length.
type aiConfig struct {
	AIModel       string        `name:"ai-model" env:"AI_MODEL" help:"Model that chooses where no chassis code decides, reads inspection sheets (it must see pictures for that) and words recommendations, by its name at the endpoint. Several, separated by commas, are asked in that order when one fails. Empty: no AI."`
	AIBaseURL     string        `name:"ai-base-url" env:"AI_BASE_URL" default:"https://api.openai.com/v1" help:"Base URL of an OpenAI-compatible API (OpenAI, Ollama, vLLM), for each model one."`
	AIAPIKey      Secret        `name:"ai-api-key" env:"AI_API_KEY" help:"Key for each base URL; an empty place between commas is none."`
	AIPrice       string        `name:"ai-price" env:"AI_PRICE" help:"For the metric of costs: US dollars for a million tokens of prompt and of answer, for each model one, as 0.25/2."`
	AITimeout     time.Duration `name:"ai-timeout" env:"AI_TIMEOUT" default:"20s" help:"Longest time for one call."`
	AIDailyTokens int64         `name:"ai-daily-tokens" env:"AI_DAILY_TOKENS" default:"2000000" help:"Most tokens of all workers in a day of Dar es Salaam; then matching goes on without the AI. 0 is no limit."`
	AIRuns        int           `name:"ai-runs" env:"AI_RUNS" default:"2" help:"Answers that must agree where candidates are close, each over another order of them."`
	AIAnswerTTL   time.Duration `name:"ai-answer-ttl" env:"AI_ANSWER_TTL" default:"720h" help:"How long an answer is kept for the same question; 0 keeps none."`
}

// Validate is called by kong.
func (c aiConfig) Validate() error {
	_, err := c.endpoints()
	return err
}

// authorityConfig is about the tax authority's calculator.
type authorityConfig struct {
	AuthorityURL     string        `env:"AUTHORITY_URL" default:"https://taxpayerportal.tra.go.tz/umvvs-api/ExternalCalculator" help:"Base URL of the authority's calculator."`
	AuthorityTimeout time.Duration `env:"AUTHORITY_TIMEOUT" default:"60s" help:"Longest time for one call."`
	AuthorityRate    int           `env:"AUTHORITY_RATE" default:"5" help:"Most calls per second over all workers; 0 is no limit."`
	AuthorityCAFile  string        `env:"AUTHORITY_CA_FILE" type:"path" help:"PEM file of certificates to trust besides the system's."`
}

// sheetConfig is about auction inspection sheets, for the API, which refuses
// others, and for workers, which fetch them.
type sheetConfig struct {
	SheetHosts []string `env:"SHEET_HOSTS" help:"More hosts that inspection sheets may be fetched from, beside the auction sites that are known; subdomains belong to a host. For the API and the workers alike."`
}

// costConfig is about what a car costs beside the authority's taxes.
type costConfig struct {
	CostTables string `env:"COST_TABLES" type:"path" help:"JSON file of freight, port and other fees that stands over the embedded ones, in their form (pkg/cost/tables.json)."`
}

// address is a TCP address; as a bare number, a port on all interfaces.
type address string

// UnmarshalText is called by kong.
func (a *address) UnmarshalText(text []byte) error {
	value := string(text)
	if _, err := strconv.ParseUint(value, 10, 16); err == nil {
		value = ":" + value
	}
	if !strings.Contains(value, ":") {
		return fmt.Errorf("%q is no address; write host:port, :port or a port", value)
	}
	*a = address(value)
	return nil
}
