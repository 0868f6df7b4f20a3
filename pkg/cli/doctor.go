package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
	"ushuru/pkg/cli/operator"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// doctorCommand looks at all that a process needs: at install, and at three in the morning.
type doctorCommand struct {
	process
	console.Format
}

// finding is what doctor found of one part.
type finding struct {
	Part  string `json:"part"`
	OK    bool   `json:"ok"`
	Found string `json:"found"`        // a sentence
	Do    string `json:"do,omitempty"` // what to do; "" when it is OK
}

const (
	// slowRedis is a round trip that an estimate, which makes about fifteen, is slow with.
	slowRedis = 50 * time.Millisecond
	// endingCertificate is how long before its end a certificate should have been renewed.
	endingCertificate = 14 * 24 * time.Hour
	// enoughTime bounds each question.
	enoughTime = 20 * time.Second
)

// maxReason is how much is shown of why a process is not ready, in bytes.
const maxReason = 1 << 10

// doctor collects what is found.
type doctor struct {
	*run
	findings []finding
}

func (d *doctor) okf(part, format string, args ...any) {
	d.findings = append(d.findings, finding{Part: part, OK: true, Found: fmt.Sprintf(format, args...)})
}

func (d *doctor) ill(part, do string, found any) {
	d.findings = append(d.findings, finding{Part: part, Found: console.OneLine(fmt.Sprint(found)), Do: do})
}

// Run is called by kong. It exits with 1 when something must be done.
func (c *doctorCommand) Run(r *run) error {
	d := &doctor{run: r}
	c.examine(d)
	err := c.print(r.Streams, d.findings)
	if err == nil && slices.ContainsFunc(d.findings, func(f finding) bool { return !f.OK }) {
		err = console.ExitError{Status: console.ExitFailure}
	}
	return err
}

// print prints a line for each finding, and under it what to do.
func (c *doctorCommand) print(s Streams, findings []finding) error {
	if c.JSON() || c.CSV() {
		return console.Listed("OK\tPART\tFOUND\tDO", func(f finding) []any {
			return []any{f.OK, f.Part, f.Found, f.Do}
		})(findings)(s, c.Format)
	}
	for _, f := range findings {
		mark, do := "OK ", ""
		if !f.OK {
			mark, do = "ILL", "\n     "+f.Do
		}
		if _, err := fmt.Fprintf(s.Out, "%s  %s: %s%s\n", mark, f.Part, console.Printable(f.Found), do); err != nil {
			return err
		}
	}
	return nil
}

// examine looks at one part after the other. Without settings that can be used there is
// nothing to ask.
func (c *doctorCommand) examine(d *doctor) {
	root, parsed, err := c.parse()
	if err != nil {
		d.ill("settings", "correct it; docs/configuration.md has every setting", err)
		return
	}
	d.common = root.common
	for _, sentence := range unknownSettings(settingNames(parsed.Model), os.Environ()) {
		d.ill("settings", "remove it", sentence)
	}
	shared, p := c.parts(root)
	if _, err := d.prepare(shared, p); err != nil {
		d.ill("settings", "correct it; docs/configuration.md has every setting", err)
	} else {
		d.okf("settings", "those of ushuru %s can be used", c.Process)
	}
	d.redis(shared, p)
	if p.worker != nil && slices.Contains(p.worker.Roles, tasks.RoleAuthority) {
		d.authority(p.authority)
	}
	if p.worker != nil && slices.Contains(p.worker.Roles, tasks.RoleAny) && !shared.AllowLoopback {
		d.names()
	}
	if p.worker != nil {
		d.ai(p.worker.AIConfig)
	}
	d.beside(shared.adminConfig)
	if p.http != nil && p.http.PageURL != "" {
		d.page(p.http.PageURL)
	}
}

// redis looks at the server, and at what the processes have written there of themselves.
func (d *doctor) redis(shared sharedConfig, p parts) {
	if shared.RedisURL == "" {
		d.okf("redis", "inside the process: for development only, nothing is kept")
		return
	}
	conn, err := d.connectServing(shared, p)
	if err != nil {
		d.ill("redis", "look whether it runs, and at REDIS_URL", err)
		return
	}
	ctx, cancel := context.WithTimeout(d.ctx, enoughTime)
	defer cancel()
	for _, warning := range conn.Warnings(ctx) {
		d.ill("redis", "see docs/redis.md", warning)
	}
	var trips []time.Duration
	for range 5 {
		begun := time.Now()
		if err := conn.Client().Time(ctx).Err(); err != nil {
			d.ill("redis", "look whether it runs, and at REDIS_URL", err)
			return
		}
		trips = append(trips, time.Since(begun))
	}
	slices.Sort(trips)
	if median := trips[len(trips)/2]; median > slowRedis {
		d.ill("redis", "put the processes nearer to it", fmt.Sprintf("a round trip takes %v", median.Round(time.Millisecond)))
	} else {
		d.okf("redis", "answers in %v", median.Round(10*time.Microsecond)) //nolint:mnd // digits
	}
	d.cell(ctx, conn)
}

// cell looks at what needs attention, and at the processes.
func (d *doctor) cell(ctx context.Context, conn *redisx.Conn) {
	now, err := operate.New(operate.Options{Redis: conn.Client(), Log: d.log}).Status(ctx)
	if err != nil {
		d.ill("work", "look at Redis", err)
		return
	}
	for _, need := range now.Needs {
		d.ill(cmp.Or(need.About, "work"), cmp.Or(need.Command, "docs/night.md"), need.Text)
	}
	for _, part := range now.Unread {
		d.ill("work", "look at Redis", part)
	}
	var workers []string
	for _, role := range now.Workers {
		workers = append(workers, fmt.Sprintf("%d %s", len(role.Workers), role.Role))
	}
	d.receivers(now.Webhooks)
	d.okf("processes", "%d with the API; workers by role: %s", len(now.API.Processes), strings.Join(workers, ", "))
	if len(now.Needs) == 0 {
		d.okf("work", "nothing needs attention")
	}
}

// authority calls TRA's calculator, through the proxy if there is one.
func (d *doctor) authority(config authorityConfig) {
	client, err := tra.NewClient(config.options())
	if err != nil {
		d.ill("tra", "correct the settings AUTHORITY_…", err)
		return
	}
	defer client.Close()
	begun := time.Now()
	calls := client.Check(d.ctx, "")
	if last := calls[len(calls)-1]; !last.OK {
		d.ill("tra", cmp.Or(adviceOf[last.Kind], "ushuru authority check"), last.Call+": "+console.Printable(last.Error))
		return
	}
	d.okf("tra", "all %d calls are answered, in %v", len(calls), time.Since(begun).Round(time.Millisecond))
}

// names asks for the address of a site and connects to it, as the workers do with sites and
// receivers.
func (d *doctor) names() {
	ctx, cancel := context.WithTimeout(d.ctx, enoughTime)
	defer cancel()
	host := sites.All()[0].Hosts[0]
	if _, err := net.DefaultResolver.LookupHost(ctx, host); err != nil {
		d.ill("dns", "look at the name server of this machine, and at its way out", err)
		return
	}
	d.okf("dns", "%s has an address", host)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, "443"))
	if err != nil {
		d.ill("out", "let the workers of the role any connect to all public addresses at 80 and 443", err)
		return
	}
	_ = conn.Close()
	d.okf("out", "%s can be connected to", host)
}

// receivers looks at what came of the events of 24 hours. A disabled webhook needs attention anyway.
func (d *doctor) receivers(webhooks []status.Webhook) {
	delivered := int64(0)
	for _, w := range webhooks {
		delivered += w.Delivered
		if w.Delivered == 0 && w.Failed+w.Retried > 0 && w.Disabled == "" {
			d.ill("webhooks", "ushuru webhooks show --operator "+w.ID,
				fmt.Sprintf("%s of %s has taken no event in 24 hours; %d attempts failed", w.Host, w.Name, w.Failed+w.Retried))
		}
	}
	d.okf("webhooks", "%d receivers, %d events delivered in 24 hours", len(webhooks), delivered)
}

// ai asks each endpoint which models it has, which costs no tokens. Not every server has a list.
func (d *doctor) ai(config AIConfig) {
	endpoints, err := config.endpoints()
	if err != nil {
		return // the settings have said it
	}
	if len(endpoints) == 0 {
		d.okf("ai", "none: cars without a decisive code and sheets are refused")
	}
	for _, e := range endpoints {
		header := http.Header{}
		if e.Key != "" {
			header.Set("Authorization", "Bearer "+string(e.Key))
		}
		answer, err := d.get(strings.TrimSuffix(e.BaseURL, "/")+"/models", header)
		switch {
		case err != nil:
			d.ill("ai", "look at AI_BASE_URL, and at the way out of this machine", err)
		case answer.code == http.StatusUnauthorized || answer.code == http.StatusForbidden:
			d.ill("ai", "set AI_API_KEY to a key that is valid", fmt.Sprint(e.Model, ": the key is refused: ", answer.code))
		case answer.code >= http.StatusInternalServerError:
			d.ill("ai", "ask who runs it; matching goes on without the AI", fmt.Sprint(e.Model, ": ", answer.code))
		default:
			d.okf("ai", "%s: answers %d", e.Model, answer.code)
		}
	}
}

// beside asks the processes of this machine, which may not have been started yet, for what
// Prometheus asks them for.
func (d *doctor) beside(config adminConfig) {
	var silent []string
	for _, address := range (&healthCommand{adminConfig: config}).addresses() {
		ctx, cancel := context.WithTimeout(d.ctx, enoughTime)
		err := askHealth(ctx, "http://"+address+"/readyz")
		if err == nil {
			err = askHealth(ctx, "http://"+address+"/metrics")
		}
		cancel()
		if _, none := errors.AsType[*net.OpError](err); none {
			silent = append(silent, address)
		} else if err != nil {
			d.ill("metrics", "docs/night.md", address+": "+err.Error())
		} else {
			d.okf("metrics", "the process at %s is ready and shows its metrics", address)
		}
	}
	if len(silent) > 0 {
		d.okf("metrics", "no process at %s: none may have been started there", strings.Join(silent, ", "))
	}
}

// page asks for the pages at their public address, through the proxy before them.
func (d *doctor) page(base string) {
	answer, err := d.get(strings.TrimSuffix(base, "/")+"/healthz", nil)
	switch {
	case err != nil:
		d.ill("page", "look at the name, the proxy and the certificate of PAGE_URL", err)
		return
	case answer.code != http.StatusOK:
		d.ill("page", "have the proxy at PAGE_URL pass requests to the API", fmt.Sprint(base, ": ", answer.code))
		return
	case !answer.ends.IsZero() && time.Until(answer.ends) < endingCertificate:
		d.ill("page", "renew it", "the certificate of "+base+" ends on "+answer.ends.Format(time.DateOnly))
		return
	}
	d.okf("page", "%s answers", base)
}

// answered is how an address answered.
type answered struct {
	code int
	ends time.Time // of its certificate; zero without TLS
}

// get asks an address that an operator has set, and does not look at the body.
func (d *doctor) get(address string, header http.Header) (answered, error) {
	ctx, cancel := context.WithTimeout(d.ctx, enoughTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return answered{}, err
	}
	maps.Copy(request.Header, header)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answered{}, err
	}
	answer := answered{code: response.StatusCode}
	if response.TLS != nil {
		answer.ends = response.TLS.PeerCertificates[0].NotAfter
	}
	return answer, response.Body.Close()
}

// healthCommand asks the processes beside it: in a container that has no other program the only
// one, else those that listen at the default addresses.
type healthCommand struct {
	adminConfig
	console.Format

	Alive   bool          `help:"Ask only whether the process answers, not whether it can serve."`
	Timeout time.Duration `default:"3s" help:"Maximum time for the answer."`
}

// Run is called by kong.
func (c *healthCommand) Run(r *run) error {
	path := "/readyz"
	if c.Alive {
		path = "/healthz"
	}
	ctx, cancel := context.WithTimeout(r.ctx, c.Timeout)
	defer cancel()
	var none error
	var ready []string
	for _, address := range c.addresses() {
		err := askHealth(ctx, "http://"+address+path)
		if _, silent := errors.AsType[*net.OpError](err); silent {
			none = err
		} else if err != nil {
			return err
		} else {
			ready = append(ready, address)
		}
	}
	if len(ready) == 0 {
		return none
	}
	said := console.Said(map[string]any{"status": "ok", "addresses": ready}, "ok: %s", strings.Join(ready, ", "))
	return said(r.Streams, c.Format)
}

// addresses returns where the process may listen for operators.
func (c *healthCommand) addresses() []string {
	address := string(c.AdminAddr)
	if address == "" {
		return defaultAdmin
	}
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	return []string{address}
}

// askHealth returns nil when an address answers 200.
func askHealth(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request) // no proxy of the environment
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer response.Body.Close()
	reason, _ := io.ReadAll(io.LimitReader(response.Body, maxReason))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("health: %s: %s", response.Status, strings.TrimSpace(string(reason)))
	}
	return nil
}

// authorityCommand is about the authority's calculator and the copy of its lists.
type authorityCommand struct {
	Check authorityCheckCommand `cmd:"" help:"Make each call of TRA's calculator in turn from this machine, with a worker's settings, and say which fails."`

	Sync operator.Sync `cmd:"" help:"Have a worker copy TRA's makes and labels now."`
}

// authorityCheckCommand calls TRA's calculator as a worker does.
type authorityCheckCommand struct {
	authorityConfig
	console.Format

	Make string `help:"Make of the vehicle that is asked for; without it TOYOTA." placeholder:"MAKE"`
}

// adviceOf says what to do about a kind of failure.
var adviceOf = map[tra.Kind]string{
	tra.Refused:       "TRA answers addresses in Tanzania only: run a worker there, or set AUTHORITY_PROXY.",
	tra.Unavailable:   "Look whether TRA's website answers a browser. Known vehicles are still answered from the cache.",
	tra.Certificate:   "A proxy may open TLS, or a certificate has expired: set AUTHORITY_CA_FILE to one that you trust.",
	tra.BadAnswer:     "The answer has another form than before: TRA may have changed its calculator.",
	tra.NoSuchVehicle: "TRA lists the vehicle and has no tax for it: try another --make.",
}

// Run is called by kong. It exits with 3 when a call has failed.
func (c *authorityCheckCommand) Run(r *run) error {
	client, err := tra.NewClient(c.options())
	if err != nil {
		return err
	}
	defer client.Close()
	calls := client.Check(r.ctx, c.Make)
	err = console.Listed("CALL\tASKED\tOUTCOME\tMS\tGOT", func(call tra.CheckedCall) []any {
		outcome := "ok"
		if !call.OK {
			outcome = "FAILED"
		}
		return []any{call.Call, call.Asked, outcome, call.TookMS, call.Got}
	})(calls)(r.Streams, c.Format)
	last := calls[len(calls)-1]
	if err != nil || last.OK {
		return err
	}
	if !c.JSON() {
		_, _ = fmt.Fprintf(r.Err, "%s fails: %s\n", last.Call, console.Printable(last.Error))
		for _, line := range []string{last.Answer, adviceOf[last.Kind]} {
			if line != "" {
				_, _ = fmt.Fprintln(r.Err, console.Printable(line))
			}
		}
	}
	return console.ExitError{Status: console.ExitRefused}
}
