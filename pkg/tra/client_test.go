package tra_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/localtime"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
)

const fielder = "COROLLA FIELDER - NKE165 - HYBRID - WAGON"

func newClient(t *testing.T, o tra.Options) *tra.Client {
	t.Helper()
	client, err := tra.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// simulated starts a simulator and a client of it.
func simulated(t *testing.T, o tratest.Options) (*tratest.Server, *tra.Client) {
	t.Helper()
	server := tratest.Start(t, o)
	return server, newClient(t, tra.Options{BaseURL: server.URL})
}

func fielderOf(id int) catalogue.Vehicle {
	return catalogue.Vehicle{
		MakeID: id, ModelBody: fielder, YOM: 2015, Country: "JAPAN",
		FuelType: "PETROL & ELECTRIC", EngineCapacity: "1001 - 1500 CC",
	}
}

func TestTheChainOfSevenCalls(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, client := simulated(t, tratest.Options{Date: time.Date(2025, 11, 15, 12, 0, 0, 0, localtime.Zone)})
	makes, err := client.Makes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(makes, func(m catalogue.Make) bool { return m.Name == "SUBARU" })
	if at < 0 {
		t.Fatalf("no SUBARU in %v", makes)
	}
	id := makes[at].ID
	labels, err := client.ModelBodies(ctx, id)
	if err != nil || !slices.Contains(labels, "FORESTER - SJ5 - SUV") {
		t.Fatalf("labels: %v, %d of them", err, len(labels))
	}
	years, err := client.List(ctx, catalogue.Vehicle{MakeID: id, ModelBody: "FORESTER - SJ5 - SUV"})
	if err != nil || !slices.Contains(years, "2014") {
		t.Fatalf("years: %v, %v", years, err)
	}
	v := catalogue.Vehicle{MakeID: id, ModelBody: "FORESTER - SJ5 - SUV", YOM: 2014}
	for _, want := range []string{"JAPAN", "PETROL", "1501 - 2000 CC"} {
		list, err := client.List(ctx, v)
		if err != nil || !slices.Equal(list, []string{want}) {
			t.Fatalf("the list after %+v: %q, %v, want %q", v, list, err, want)
		}
		v = v.With(list[0])
	}
	tax, warnings, err := client.Details(ctx, v)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("details: %v, warnings %v", err, warnings)
	}
	if !strings.HasPrefix(tax.ReferenceNumber, "SIM") {
		t.Errorf("reference number %q does not say that it is simulated", tax.ReferenceNumber)
	}
	tax.ReferenceNumber = ""
	want := `{"referenceNumber":"","make":"SUBARU","model":"FORESTER","bodyType":"SUV","modelBody":"FORESTER - SJ5 - SUV",` +
		`"yom":2014,"country":"JAPAN","fuelType":"PETROL","engineCapacity":"1501 - 2000 CC",` +
		`"cifInUSD":"2,439.00","importDutyInUSD":"609.75","exiseDutyInUSD":"152.44","exiseDutyDueToAgeInUSD":"914.63",` +
		`"vatInUSD":"797.86","customProcessingFeeInUSD":"14.63","railwayDevLevyInUSD":"48.78","indDevLevy":"0.00",` +
		`"hivRespLevy":"150,000.00","totalImportTaxesInUSD":"2,538.08","totalImportTaxesInTZS":"6,512,672.49",` +
		`"vehicleRegistrationFeeInTZS":"500,000.00","totalTaxesInTZS":"7,162,672.49","quarter":4,"year":2025}`
	if got, _ := json.Marshal(tax); string(got) != want {
		t.Errorf("the recorded answer of 2025 Q4 does not come out:\n got %s\nwant %s", got, want)
	}
}

func TestRequestsAreThoseOfTheRecordedURLs(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.RequestURI)
		_, _ = w.Write([]byte(`[]`))
	}))
	defer server.Close()
	ctx, id := t.Context(), 1503191
	client := newClient(t, tra.Options{BaseURL: server.URL + "/umvvs-api/ExternalCalculator/"})
	_, _ = client.Makes(ctx)
	_, _ = client.ModelBodies(ctx, id)
	_, _ = client.List(ctx, catalogue.Vehicle{MakeID: id, ModelBody: fielder})
	_, _ = client.List(ctx, catalogue.Vehicle{MakeID: id, ModelBody: fielder, YOM: 2015})
	_, _ = client.List(ctx, catalogue.Vehicle{MakeID: id, ModelBody: fielder, YOM: 2015, Country: "JAPAN"})
	_, _ = client.List(ctx, catalogue.Vehicle{MakeID: id, ModelBody: fielder, YOM: 2015, Country: "JAPAN", FuelType: "PETROL & ELECTRIC"})
	if _, _, err := client.Details(ctx, fielderOf(id)); err == nil {
		t.Error("an empty list of details is no error")
	}
	const label = "modelBody=COROLLA%20FIELDER%20-%20NKE165%20-%20HYBRID%20-%20WAGON"
	want := []string{
		"getMakes",
		"getModelBody?makeId=1503191",
		"getYom?makeId=1503191&" + label,
		"getCountryOfOrigin?makeId=1503191&" + label + "&yom=2015",
		"getFuelType?makeId=1503191&" + label + "&yom=2015&countryOfOrigin=JAPAN",
		"getEngineCapacity?makeId=1503191&" + label + "&yom=2015&countryOfOrigin=JAPAN&fuelType=PETROL%20%26%20ELECTRIC",
		"getVehicleDetails?makeId=1503191&" + label +
			"&yom=2015&cuntryOfOrigin=JAPAN&fuelType=PETROL%20%26%20ELECTRIC&engineCapacity=1001%20-%201500%20CC",
	}
	for i := range want {
		want[i] = "/umvvs-api/ExternalCalculator/" + want[i]
	}
	if !slices.Equal(got, want) {
		t.Errorf("requests:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	t.Run("as recorded", func(t *testing.T) {
		recorded, err := os.ReadFile(testenv.Reference(t, "authority", "real_urls.txt"))
		if err != nil {
			t.Fatal(err)
		}
		for _, uri := range want {
			if !bytes.Contains(recorded, []byte("https://taxpayerportal.tra.go.tz"+uri+"\n")) {
				t.Errorf("%s is not among the recorded ones", uri)
			}
		}
	})
}

func TestLabelsGoBackByteForByte(t *testing.T) {
	t.Parallel()
	label := "  X-TRAIL  -  T32 - 5+2 SEATS/É - SUV "
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = r.URL.Query().Get("modelBody"); asked != "" {
			_, _ = w.Write([]byte(`[{"yom":"2015"}]`))
			return
		}
		_ = json.NewEncoder(w).Encode([]map[string]string{{"modelBody": label}})
	}))
	defer server.Close()
	client := newClient(t, tra.Options{BaseURL: server.URL})
	labels, err := client.ModelBodies(t.Context(), 1)
	if err != nil || len(labels) != 1 || labels[0] != label {
		t.Fatalf("labels %q, %v", labels, err)
	}
	if _, err := client.List(t.Context(), catalogue.Vehicle{MakeID: 1, ModelBody: labels[0]}); err != nil || asked != label {
		t.Errorf("asked for %q (%v), want %q", asked, err, label)
	}
}

func TestEveryFaultHasItsKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults    tratest.Faults
		kind      tra.Kind
		status    int
		temporary bool
	}{
		"503":                {tratest.Faults{Status: 503}, tra.Unavailable, 503, true},
		"500":                {tratest.Faults{Status: 500}, tra.Unavailable, 500, true},
		"429":                {tratest.Faults{Status: 429}, tra.Unavailable, 429, true},
		"404":                {tratest.Faults{Status: 404}, tra.BadAnswer, 404, false},
		"451":                {tratest.Faults{Status: 451}, tra.Refused, 451, false},
		"refused by region":  {tratest.Faults{RefuseRegion: true}, tra.Refused, 403, false},
		"a page with 200":    {tratest.Faults{HTML: true}, tra.Unavailable, 200, true},
		"dropped connection": {tratest.Faults{DropConnection: true}, tra.Unavailable, 0, true},
		"truncated body":     {tratest.Faults{TruncatedBody: true}, tra.Unavailable, 200, true},
		"no answer in time":  {tratest.Faults{Latency: tratest.Duration(time.Minute)}, tra.Unavailable, 0, true},
		"a body too slow":    {tratest.Faults{SlowBody: tratest.Duration(time.Minute)}, tra.Unavailable, 200, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := tratest.Start(t, tratest.Options{Faults: c.faults})
			timeout := time.Minute
			if strings.Contains(name, "time") || strings.Contains(name, "slow") {
				timeout = 2 * time.Second // the header comes within it
			}
			client := newClient(t, tra.Options{BaseURL: server.URL, Timeout: timeout})
			_, err := client.Makes(t.Context())
			failure, ok := errors.AsType[*tra.Error](err)
			if !ok || failure.Kind != c.kind || failure.Status != c.status || failure.Temporary() != c.temporary {
				t.Fatalf("got %#v, want kind %s, status %d, temporary %t", err, c.kind, c.status, c.temporary)
			}
			if failure.Call != "getMakes" || !strings.Contains(err.Error(), "getMakes") {
				t.Errorf("the call is not named: %v", err)
			}
		})
	}
}

func TestWhatTheAuthoritySentIsForTheLogOnly(t *testing.T) {
	t.Parallel()
	_, client := simulated(t, tratest.Options{Faults: tratest.Faults{Status: 500}})
	_, err := client.Makes(t.Context())
	if err == nil || strings.Contains(fmt.Sprintf("%v %s %q", err, err, err), "NullPointer") {
		t.Errorf("public text: %v", err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Error("call", "err", err)
	if !strings.Contains(log.String(), "NullPointer") || !strings.Contains(log.String(), "kind=unavailable") {
		t.Errorf("log: %s", log.String())
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"7": 7 * time.Second, "": 0, "-5": 0, "soon": 0, "99999999": 24 * time.Hour, "Mon, 02 Jan 2006 15:04:05 GMT": 0,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		_, err := newClient(t, tra.Options{BaseURL: server.URL}).Makes(t.Context())
		if failure, ok := errors.AsType[*tra.Error](err); !ok || failure.RetryAfter != want {
			t.Errorf("Retry-After %q: %#v, want %s", header, err, want)
		}
		server.Close()
	}
}

func TestAnUntrustedCertificateIsItsOwnKind(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[]`)) }))
	defer server.Close()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	_, err := newClient(t, tra.Options{BaseURL: server.URL}).Makes(t.Context())
	if failure, ok := errors.AsType[*tra.Error](err); !ok || failure.Kind != tra.Certificate || failure.Temporary() {
		t.Fatalf("got %#v, want kind certificate", err)
	}

	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newClient(t, tra.Options{BaseURL: server.URL, CAFile: ca}).Makes(t.Context()); err != nil {
		t.Errorf("with the CA file: %v", err)
	}
}

func TestRedirectsStayOnTheHost(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	target := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/moved") {
			_, _ = w.Write([]byte(`[{"makeId":1,"makeName":"TOYOTA"}]`))
			return
		}
		http.Redirect(w, r, target, http.StatusFound)
	}))
	defer server.Close()
	client := newClient(t, tra.Options{BaseURL: server.URL})

	target = elsewhere.URL
	if failure, ok := errors.AsType[*tra.Error](func() error { _, err := client.Makes(t.Context()); return err }()); !ok || failure.Kind != tra.Unavailable {
		t.Errorf("elsewhere: %v", failure)
	}
	target = "/moved"
	if makes, err := client.Makes(t.Context()); err != nil || len(makes) != 1 {
		t.Errorf("same host: %v, %v", makes, err)
	}
	target = "/loop"
	if _, err := client.Makes(t.Context()); err == nil {
		t.Error("a loop of redirects ends in no error")
	}
}

func TestTheCallersOwnEndIsNotTheAuthoritysFault(t *testing.T) {
	t.Parallel()
	_, client := simulated(t, tratest.Options{Faults: tratest.Faults{Latency: tratest.Duration(time.Minute)}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := client.Makes(ctx)
	if _, ok := errors.AsType[*tra.Error](err); ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's own error", err)
	}
}

func TestAnAnswerBeyondTheLimitIsNotDecoded(t *testing.T) {
	t.Parallel()
	server := tratest.Start(t, tratest.Options{})
	client := newClient(t, tra.Options{BaseURL: server.URL, MaxBody: 100})
	_, err := client.Makes(t.Context())
	if failure, ok := errors.AsType[*tra.Error](err); !ok || failure.Kind != tra.BadAnswer {
		t.Errorf("got %v, want a bad answer", err)
	}
}

func TestEmptyListsAreAnswers(t *testing.T) {
	t.Parallel()
	server, client := simulated(t, tratest.Options{Faults: tratest.Faults{EmptyLists: true}})
	if makes, err := client.Makes(t.Context()); err != nil || len(makes) != 0 {
		t.Errorf("makes: %v, %v", makes, err)
	}
	server.SetFaults(tratest.Faults{})
	if labels, err := client.ModelBodies(t.Context(), server.MakeID("SCANIA")); err != nil || len(labels) != 0 {
		t.Errorf("a make without vehicles: %v, %v", labels, err)
	}
	if years, err := client.List(t.Context(), catalogue.Vehicle{MakeID: server.MakeID("TOYOTA"), ModelBody: "NO - SUCH - LABEL"}); err != nil || len(years) != 0 {
		t.Errorf("years of an unknown label: %v, %v", years, err)
	}
}

func TestDetailsInEveryForm(t *testing.T) {
	for name, faults := range map[string]tratest.Faults{
		"object": {}, "list": {ObjectInList: true}, "numbers": {NumbersAsNumbers: true},
		"list of numbers": {NumbersAsNumbers: true, ObjectInList: true},
	} {
		t.Run(name, func(t *testing.T) {
			server, client := simulated(t, tratest.Options{Date: time.Date(2025, 11, 15, 0, 0, 0, 0, localtime.Zone), Faults: faults})
			tax, warnings, err := client.Details(t.Context(), fielderOf(server.MakeID("TOYOTA")))
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			// 10,662 as new, 70 % written off at 10 years.
			if tax.CIFInUSD.String() != "3,199.00" || tax.YOM != 2015 || tax.Quarter != 4 || tax.Year != 2025 {
				t.Errorf("tax %+v", tax)
			}
		})
	}
}

func TestAnUnlistedVehicleIsItsOwnKind(t *testing.T) {
	t.Parallel()
	server, client := simulated(t, tratest.Options{})
	v := fielderOf(server.MakeID("TOYOTA"))
	v.YOM = 1971
	_, _, err := client.Details(t.Context(), v)
	if failure, ok := errors.AsType[*tra.Error](err); !ok || failure.Kind != tra.NoSuchVehicle || failure.Temporary() {
		t.Errorf("got %#v, want kind no_such_vehicle", err)
	}
}

func TestNewClientRefusesBadOptions(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]tra.Options{
		"no scheme":       {BaseURL: "taxpayerportal.tra.go.tz"},
		"another scheme":  {BaseURL: "ftp://taxpayerportal.tra.go.tz"},
		"a query":         {BaseURL: "https://taxpayerportal.tra.go.tz/?a=b"},
		"no such CA file": {CAFile: filepath.Join(t.TempDir(), "none.pem")},
		"empty CA file":   {CAFile: empty},
	} {
		if _, err := tra.NewClient(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := tra.NewClient(tra.Options{}); err != nil {
		t.Errorf("the zero options: %v", err)
	}
}

// pipe copies both ways until one side ends.
func pipe(a, b net.Conn) {
	go func() {
		_, _ = io.Copy(a, b)
		_ = a.Close()
	}()
	_, _ = io.Copy(b, a)
	_ = b.Close()
}

// connectProxy is a CONNECT proxy over TLS that wants a user and password.
func connectProxy(t *testing.T, used *atomic.Int32) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != "Basic dTpzZWNyZXQ=" { // u:secret
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		target, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		used.Add(1)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		pipe(conn, target)
	}))
	t.Cleanup(server.Close)
	return server
}

// socksProxy is a SOCKS5 proxy that wants a user and password (RFC 1928, 1929).
func socksProxy(t *testing.T, used *atomic.Int32) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
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
			go func() { _ = socks(conn, used) }()
		}
	}()
	return listener.Addr().String()
}

func socks(conn net.Conn, used *atomic.Int32) error {
	defer conn.Close()
	read := func(n int) []byte {
		data := make([]byte, n)
		_, _ = io.ReadFull(conn, data)
		return data
	}
	read(int(read(2)[1]))
	_, _ = conn.Write([]byte{5, 2})
	user := string(read(int(read(2)[1])))
	password := string(read(int(read(1)[0])))
	if user != "u" || password != "secret" {
		_, err := conn.Write([]byte{1, 1})
		return err
	}
	_, _ = conn.Write([]byte{1, 0})
	var host string
	if kind := read(4)[3]; kind == 1 {
		host = net.IP(read(4)).String()
	} else {
		host = string(read(int(read(1)[0])))
	}
	port := read(2)
	target, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1]))))
	if err != nil {
		return err
	}
	used.Add(1)
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	pipe(conn, target)
	return nil
}

func TestCallsGoThroughTheProxy(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[]`)
	}))
	defer authority.Close()
	var used atomic.Int32
	secure := connectProxy(t, &used)
	file := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	socksAddress := socksProxy(t, &used)
	for _, c := range []struct {
		address string
		reached bool
	}{
		{"https://u:secret@" + strings.TrimPrefix(secure.URL, "https://"), true},
		{"https://u:wrong@" + strings.TrimPrefix(secure.URL, "https://"), false},
		{"socks5://u:secret@" + socksAddress, true},
		{"socks5://u:wrong@" + socksAddress, false},
	} {
		used.Store(0)
		client, err := tra.NewClient(tra.Options{BaseURL: authority.URL, CAFile: file, Proxy: c.address})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Makes(t.Context())
		if (used.Load() == 1) != c.reached || (err == nil) != c.reached {
			t.Errorf("%s: through the proxy %d times, %v", c.address, used.Load(), err)
		}
		if err != nil && (strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("the error shows the password: %v", err)
		}
		host, err := client.DialProxy(t.Context())
		if proxy, _ := url.Parse(c.address); err != nil || host != proxy.Host {
			t.Errorf("DialProxy = %q, %v", host, err)
		}
		client.Close()
	}
}

func TestProxyThatIsNoneIsRefusedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"ftp://u:secret@proxy.example:21", "proxy.example:3128", "https://u:secret@", "https://u:secret@proxy.example/path", "https://u:secret@%zz",
	} {
		if _, err := tra.ParseProxy(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
