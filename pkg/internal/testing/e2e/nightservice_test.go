package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/cli/clitest"
	faulttime "ushuru/pkg/faults"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/tratest"
)

const (
	nightPassword = "a password of the night"
	maxMemory     = 64 << 20 // of Redis, bytes
	dailyTokens   = 40_000   // of the AI
)

// service is the real program: an API and a worker of each role, each a process of its own,
// with a real Redis, and simulators of TRA, of a site and of the AI in this process.
type nightService struct {
	t         *testing.T
	redis     *redistest.Server
	authority *tratest.Server
	ai        *aitest.Server
	site      *site
	key       string
	processes map[string]*process
	cars      []car             // that were not asked for yet
	named     *strings.Replacer // of words in commands
	repair    func()
	on        string // the process on whose machine the operator is; "" is the API
}

// process is one of the service's. It keeps its address for operators when it starts
// again: each has an IP address of its own, on which no one else takes a port.
type process struct {
	*clitest.Process

	name, admin string
	args        []string
	before      []string // the log of those that have ended
}

// start starts the service. Only what needs pages gets a site.
func startNight(t *testing.T) *nightService {
	t.Helper()
	s := &nightService{
		t: t, authority: tratest.Start(t, tratest.Options{}), ai: aitest.Start(t, aitest.Options{}),
		redis:     redistest.Start(t, redistest.AOF(), redistest.SavePoint(), redistest.Args("--maxmemory", strconv.Itoa(maxMemory))),
		processes: map[string]*process{},
	}
	s.authority.SetFaults(healthy)
	s.site = startSite(t, s.authority)
	conn := redistest.Open(t, s.redis.URL)
	var err error
	s.key, _, err = keys.NewStore(conn.Client()).Create(t.Context(), "Mzee Juma Motors")
	must(t, err)
	must(t, conn.Close())
	for _, maker := range []string{"TOYOTA", "NISSAN", "HONDA", "MAZDA"} {
		for _, listed := range s.authority.Listed(maker) {
			s.cars = append(s.cars, carsOf(listed)...)
		}
	}
	ai := []string{
		"--ai-base-url", s.ai.URL, "--ai-model", "simulated", "--ai-api-key", "any", "--ai-daily-tokens", strconv.Itoa(dailyTokens),
	}
	s.run("api", "api", "--listen", "127.0.0.1:0", "--drain-delay", "0s", "--operator-password", nightPassword,
		"--wait-max", "2s", "--key-jobs", "0", "--key-rate", "0")
	s.run("worker-any", append([]string{"worker", "--roles", "any", "--concurrency", "2"}, ai...)...)
	s.run("worker-ai", append([]string{"worker", "--roles", "ai"}, ai...)...)
	s.run("worker-authority", authorityWorker(s)...)
	return s
}

// healthy is TRA's calculator as it is on most days.
var healthy = tratest.Faults{Latency: tratest.Duration(20 * time.Millisecond)}

func authorityWorker(s *nightService) []string {
	return []string{
		"worker", "--roles", "authority", "--authority-url", s.authority.URL, "--authority-rate", "50",
		"--authority-timeout", "5s",
	}
}

// carsOf returns a request for each year of a label of TRA, which needs no matching.
func carsOf(listed tratest.Listed) (all []car) {
	if len(listed.Fuels) != 1 || len(listed.Bands) != 1 {
		return nil
	}
	for _, year := range listed.Years {
		all = append(all, car{
			"make": listed.Make, "modelBody": listed.Label, "year": year, "fuel": listed.Fuels[0], "engine_cc": upper(listed.Bands[0]),
			"fobPriceUSD": 4000,
		})
	}
	return all
}

// car is the body of a request for a quote.
type car map[string]any

// upper returns the upper end of a band of engine sizes.
func upper(band string) int {
	words := strings.Fields(strings.TrimSuffix(band, " CC"))
	cc, _ := strconv.Atoi(words[len(words)-1])
	if words[0] == "ABOVE" {
		cc++
	}
	return cc
}

// await waits until something is so; text says what there is when it is not.
func awaitNight(t *testing.T, what string, text func() string, is func() bool) {
	t.Helper()
	testenv.Await(t, what, func() (any, bool) {
		if is() {
			return nil, true
		}
		return text(), false
	})
}

// run starts a process, for the first time or again.
func (s *nightService) run(name string, args ...string) {
	s.t.Helper()
	p := s.processes[name]
	if p == nil {
		p = &process{name: name, args: args, admin: fmt.Sprintf("127.0.7.%d:0", len(s.processes)+1)}
		s.processes[name] = p
	} else {
		p.before = append(p.before, p.Log()...)
	}
	ready := "worker started"
	if p.args[0] == "api" {
		ready = "API listening"
	}
	var err error
	p.Process, err = clitest.StartProgram(s.t, "ushuru", nil, ready, append([]string{
		p.args[0], "--allow-loopback", "--redis-url", s.redis.URL, "--admin-addr", p.admin, "--secrets-key", secretsKey,
	}, p.args[1:]...)...)
	must(s.t, err)
	if strings.HasSuffix(p.admin, ":0") {
		awaitNight(s.t, name+" says its admin address", p.Tail, p.findAdmin)
	}
}

const secretsKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func (p *process) findAdmin() bool {
	for _, text := range p.Log() {
		var line clitest.Line
		if json.Unmarshal([]byte(text), &line) == nil && line.Msg == "admin address listening" {
			p.admin = line.Address
			return true
		}
	}
	return false
}

// admins returns the addresses for operators.
func (s *nightService) admins() map[string]string {
	all := map[string]string{}
	for name, p := range s.processes {
		all[name] = p.admin
	}
	return all
}

// base returns the URL of the API.
func (s *nightService) base() string { return "http://" + s.processes["api"].Started.Address }

// post sends a request to the API and returns the status and the answer.
func (s *nightService) post(path string, body any, headers ...string) (status int, answer []byte) {
	s.t.Helper()
	data, err := json.Marshal(body)
	must(s.t, err)
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base()+path, bytes.NewReader(data))
	must(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer response.Body.Close()
	answer, _ = io.ReadAll(response.Body)
	return response.StatusCode, answer
}

// take returns so many cars that were not asked for yet.
func (s *nightService) take(n int) []car {
	s.t.Helper()
	if len(s.cars) < n {
		s.t.Fatal("there are no more cars")
	}
	taken := s.cars[:n]
	s.cars = s.cars[n:]
	return taken
}

// ask asks for cars that are new to the service, without waiting for the results.
func (s *nightService) ask(n int) {
	s.t.Helper()
	for _, c := range s.take(n) {
		if status, answer := s.post("/v1/quote", c, "Prefer", "respond-async"); status != http.StatusAccepted {
			s.t.Logf("quote: %d %s", status, answer)
		}
	}
}

// site is the simulated listing site, whose cars are all different vehicles to TRA. It can
// refuse all, and be slow.
type site struct {
	*httptest.Server

	paths  []string // of the pages of its cars
	blocks atomic.Bool
	slow   atomic.Int64 // nanoseconds
}

func startSite(t *testing.T, authority *tratest.Server) *site {
	t.Helper()
	s := &site{}
	var cars []listingtest.Car
	for n, label := range authority.Listed("TOYOTA") {
		parts := strings.Split(label.Label, " - ")
		if len(parts) == 3 && slices.Equal(label.Fuels, []string{"PETROL"}) && len(label.Bands) == 1 {
			cars = append(cars, listingtest.Car{
				Page: "exporter", Ref: fmt.Sprintf("NT%06d", n), ID: 9_400_000 + n, Make: "TOYOTA", Model: parts[0], Body: parts[2],
				Code: "DBA-" + parts[1], Frame: fmt.Sprintf("%s-%07d", parts[1], n+1), Version: "G",
				Registration: fmt.Sprintf("%d/3", label.Years[len(label.Years)-1]), Engine: "-",
				Fuel: "Petrol", Price: 4000, Mileage: 60_000, M3: "10.8", Location: "KOBE", Transmission: "Automatic", Colour: "White",
				Images: 1, Shows: "a vehicle of its own",
			})
		}
	}
	for _, c := range cars {
		s.paths = append(s.paths, c.Path())
	}
	faults, pages := listingtest.New(), listingtest.Of(cars)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
		case s.blocks.Load():
			r.URL.Path = "/blocked"
			faults.ServeHTTP(w, r)
			return
		case !faulttime.Duration(s.slow.Load()).Wait(r.Context()):
			return
		}
		pages.ServeHTTP(w, r)
	}))
	// On all addresses of this machine, each of which is a site.
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	must(t, err)
	_ = s.Listener.Close()
	s.Listener = listener
	s.Start()
	s.URL = strings.Replace(s.URL, "0.0.0.0", "127.0.0.1", 1)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}
