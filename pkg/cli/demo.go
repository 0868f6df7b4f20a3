package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/oklog/ulid/v2"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
)

// demoCommand is everything in one process on a bare machine.
type demoCommand struct {
	Listen address `default:"127.0.0.1:8080" help:"Address of the API; another port is taken when this one is in use."`
	Site   address `default:"127.0.0.1:8090" help:"Address of the SIMULATED listing site; likewise."`
	Once   bool    `help:"Print the estimate and end."`
}

// demoPatience bounds the demo's own first estimate.
const demoPatience = time.Minute

// Run is called by kong.
func (c *demoCommand) Run(r *run) error {
	if r.common.production() {
		return errors.New("the demo is refused in production: its figures are made up")
	}
	defer r.close()
	if r.common.LogLevel == "info" {
		r.log = newLog(r.Err, "error")
	}
	stack, err := c.start(r)
	if err != nil {
		return err
	}
	estimate, err := stack.estimate(r.ctx, stack.listings[0])
	if err != nil {
		return err
	}
	printEstimate(r.Out, estimate)
	if c.Once {
		return nil
	}
	stack.printHow(r.Out)
	err = r.untilStopped()
	_, _ = fmt.Fprintln(r.Out, "\nStopping.")
	return err
}

// demoStack is a running demo.
type demoStack struct {
	base     string // of the API
	key      string
	password string // of the queue's page
	listings []string
	shows    []string // what each listing is there to show
}

func (c *demoCommand) start(r *run) (*demoStack, error) {
	conn, err := r.redis(redisConfig{}, true)
	if err != nil {
		return nil, err
	}
	simulator, err := tratest.New(tratest.Options{})
	if err != nil {
		return nil, err
	}
	authority, err := r.listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.serve(authority, simulator)
	site, err := r.listenNear(c.Site)
	if err != nil {
		return nil, err
	}
	r.serve(site, listingtest.New())

	model, err := r.listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.serve(model, aitest.New(aitest.Options{}))

	parts := demoParts{allowLoopback: true, simulated: true}
	err = r.startWorker(
		workerConfig{
			Roles: allRoles, FetchTimeout: 30 * time.Second, ShutdownTimeout: 5 * time.Second,
			aiConfig: aiConfig{
				AIModel: aitest.Mark, AIBaseURL: "http://" + model.Addr().String() + aitest.Path, AIAPIKey: aitest.Mark,
				AITimeout: 10 * time.Second, AIRuns: 2, AIAnswerTTL: time.Hour,
			},
		},
		authorityConfig{AuthorityURL: "http://" + authority.Addr().String() + tratest.Path, AuthorityTimeout: 10 * time.Second},
		conn, parts)
	if err != nil {
		return nil, err
	}
	stack := &demoStack{password: ulid.Make().String()}
	stack.key, _, err = keys.NewStore(conn.Client()).Create(r.ctx, "demo")
	if err != nil {
		return nil, err
	}
	listener, err := r.listenNear(c.Listen)
	if err != nil {
		return nil, err
	}
	stack.base = "http://" + listener.Addr().String()
	config := httpConfig{WaitMax: time.Minute, OperatorUser: "operator", OperatorPassword: Secret(stack.password)}
	if err := r.startAPI(config, listener, conn, parts); err != nil {
		return nil, err
	}
	for _, car := range listingtest.Cars() {
		stack.listings = append(stack.listings, "http://"+site.Addr().String()+car.Path())
		stack.shows = append(stack.shows, car.Shows)
	}
	return stack, nil
}

// listenNear opens a port, or a free one when that is in use.
func (r *run) listenNear(at address) (net.Listener, error) {
	listener, err := r.listen(at)
	if err == nil {
		return listener, nil
	}
	host, _, splitErr := net.SplitHostPort(string(at))
	if splitErr != nil {
		return nil, err
	}
	return r.listen(address(net.JoinHostPort(host, "0")))
}

// estimate asks the demo's own API, as a caller would.
func (s *demoStack) estimate(ctx context.Context, listing string) (*vehicle.Estimate, error) {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	body, err := json.Marshal(vehicle.Input{URL: listing})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/v1/estimate", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the demo's estimate failed with status %d: %s", response.StatusCode, answer)
	}
	estimate := &vehicle.Estimate{}
	return estimate, json.Unmarshal(answer, estimate)
}

// printHow says what to try next.
func (s *demoStack) printHow(w io.Writer) {
	_, _ = fmt.Fprintf(w, `
Ask yourself:

  curl -s %s/v1/estimate \
    -H 'Authorization: Bearer %s' \
    -H 'Content-Type: application/json' \
    -d '{"url": "%s"}'

Cars on the SIMULATED listing site:

`, s.base, s.key, s.listings[0])
	for i, listing := range s.listings {
		_, _ = fmt.Fprintf(w, "  %s\n      %s\n", listing, s.shows[i])
	}
	_, _ = fmt.Fprintf(w, `
The queue:  %s/monitoring  (user operator, password %s)
The API:    %s/openapi.yaml
Ctrl-C stops everything; nothing is kept.
`, s.base, s.password, s.base)
}
