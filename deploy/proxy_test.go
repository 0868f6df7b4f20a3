package deploy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/testenv"
)

// certificate writes a certificate of its own and its key into a folder.
func certificate(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"ushuru.example"}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// accepts fails the test when a program does not accept the settings of a file, with some
// texts replaced.
func accepts(t *testing.T, file string, replaced *strings.Replacer, program string, args ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(path, []byte(replaced.Replace(read(t, file))), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "FILE", path)
	}
	command := exec.CommandContext(t.Context(), testenv.Binary(t, program), args...)
	command.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := command.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("ERROR")) {
		t.Errorf("%s does not accept %s: %v\n%s", program, file, err, out)
	}
}

// The programs accept the examples.
func TestProxiesAcceptTheExamples(t *testing.T) {
	testenv.Long(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "fullchain.pem"), filepath.Join(dir, "key.pem")
	certificate(t, cert, key)

	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin")
	around := filepath.Join(dir, "nginx.conf")
	site := filepath.Join(dir, "ushuru.conf")
	text := strings.ReplaceAll(read(t, "proxy/nginx.conf"), "/etc/ssl/ushuru", dir)
	if err := os.WriteFile(site, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := fmt.Sprintf("events {}\npid %[1]s/pid;\nerror_log stderr;\nhttp { access_log off; client_body_temp_path %[1]s/b;"+
		" proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s; include %[2]s; }\n", dir, site)
	if err := os.WriteFile(around, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	accepts(t, "proxy/nginx.conf", strings.NewReplacer(), "nginx", "-t", "-c", around)
	accepts(t, "proxy/Caddyfile", strings.NewReplacer(), "caddy", "validate", "--config", "FILE", "--adapter", "caddyfile")
	accepts(t, "proxy/squid.conf", strings.NewReplacer("/etc/squid/proxy.pem", cert, "/etc/squid/proxy.key", key,
		"/var/log/squid", dir), "squid", "-k", "parse", "-f", "FILE")
}

// longest is how long the API may take for an answer: WAIT_MAX and 30 s.
const longest = 25 + 30

// No proxy gives up before the API, and events are passed on as they come.
func TestProxiesWaitAsLongAsTheAPI(t *testing.T) {
	t.Parallel()
	for file, events := range map[string]string{"proxy/nginx.conf": "proxy_buffering off;", "proxy/Caddyfile": "flush_interval -1"} {
		text := read(t, file)
		times := regexp.MustCompile(`(?:proxy_read_timeout|response_header_timeout) (\d+)s`).FindAllStringSubmatch(text, -1)
		for _, match := range times {
			if seconds, err := strconv.Atoi(match[1]); err != nil || seconds < longest {
				t.Errorf("%s gives up after %s s", file, match[1])
			}
		}
		if len(times) == 0 || !strings.Contains(text, events) || !strings.Contains(text, "24") {
			t.Errorf("%s: %d time-outs, or it keeps events back, or bodies", file, len(times))
		}
	}
}
