// Package fetchtest lists URLs that lead a careless client to a server that is not
// public, for the tests of everything that takes a URL.
package fetchtest

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// inside are addresses that no caller may reach: metadata services, this machine,
// private and shared networks, link-local and multicast.
var inside = []string{"169.254.169.254", "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.100.100.200", "0.0.0.0"}

// others are URLs of which each is a shape of its own.
var others = []string{
	// Addresses that are not public.
	"http://127.1/", "http://127.0.1/", "http://0/", "http://0x0/", "http://00/", "http://127.127.127.127/",
	"http://169.254.170.2/",
	"http://192.0.0.192/", "http://192.0.0.1/", "http://192.0.2.1/", "http://198.18.0.1/", "http://198.51.100.1/",
	"http://203.0.113.1/",
	"http://100.64.0.1/", "http://224.0.0.1/", "http://239.255.255.250/", "http://240.0.0.1/", "http://255.255.255.255/",
	"http://172.31.255.255/", "http://10.255.255.255/", "http://169.254.0.1/", "http://192.88.99.1/",
	"http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
	"http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%25lo]/", "http://[fc00::1]/", "http://[fd00:ec2::254]/",
	"http://[fd20:ce::254]/", "http://[fec0::1]/", "http://[ff02::1]/", "http://[2001:db8::1]/", "http://[2001::1]/",
	"http://[100::1]/", "http://[2001:2::1]/", "http://[64:ff9b:1::7f00:1]/", "http://[::7f00:1]/", "http://[::1%25lo]/",
	// Names of inside.
	"http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://localhost.localdomain/", "http://a.localhost/",
	"http://redis/", "http://metadata/", "http://metadata.google.internal/", "http://metadata.google.internal./",
	"http://api.internal/",
	"http://printer.local/", "http://router.lan/", "http://intranet/", "http://x.home.arpa/", "http://x.corp/", "http://x.home/",
	"http://x.private/", "http://x.intranet/", "http://x.onion/", "http://1.0.0.127.in-addr.arpa/", "http://kubernetes/",
	"http://ⓛocalhost/", "http://ｌｏｃａｌｈｏｓｔ/", "http://localhost。/", "http://loc%61lhost/", "http://LocalHost:80/",
	// Ports of other services.
	"http://www.example.com:22/", "http://www.example.com:6379/", "http://www.example.com:8080/", "http://www.example.com:0/",
	"http://www.example.com:65536/", "http://www.example.com:-1/", "http://www.example.com:080a/",
	"https://www.example.com:11211/",
	// Users and what hides the host.
	"http://www.example.com@127.0.0.1/", "http://127.0.0.1@www.example.com/", "http://user:pass@www.example.com/",
	"http://www.example.com:80@127.0.0.1/", "http://www.example.com%40127.0.0.1/", `http://www.example.com\@127.0.0.1/`,
	`http:\\127.0.0.1\`, `http://127.0.0.1\.www.example.com/`, "http://127.0.0.1#@www.example.com/",
	"http://127.0.0.1?@www.example.com/",
	"http://127.0.0.1;www.example.com/", "http://127.0.0.1%00.example.com/", "http://127.0.0.1%2f.example.com/",
	"http://127.0.0.1%23.example.com/", "http://127.0.0.1 .example.com/", "http://[127.0.0.1]/", "http://[::1].example.com/",
	"http://[::1/", "http://::1/", "http://www.example.com]/", "http:///127.0.0.1/", "http:127.0.0.1/", "http:/127.0.0.1/",
	"//127.0.0.1/", "///127.0.0.1/", "127.0.0.1", "127.0.0.1:80", "localhost:6379",
	// Schemes.
	"file:///etc/passwd", "file://127.0.0.1/etc/passwd", "ftp://www.example.com/", "gopher://127.0.0.1:6379/_INFO",
	"dict://127.0.0.1:6379/info", "ldap://127.0.0.1/", "tftp://127.0.0.1/x", "sftp://127.0.0.1/",
	"jar:http://127.0.0.1!/", "netdoc:///etc/passwd",
	"data:text/html,x", "javascript:alert(1)", "about:blank", "blob:http://127.0.0.1/x", "view-source:http://127.0.0.1/",
	"unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/", "ws://127.0.0.1/", "HTTP+X://127.0.0.1/",
	"redis://127.0.0.1:6379/",
	// Control characters and lengths.
	"http://127.0.0.1\r\nHost: x/", "http://www.example.com/\r\nX: y", "http://www.example.com\t/",
	"http://\x00127.0.0.1/", "http://127.0.0.1\n/",
	"http://" + strings.Repeat("a", 64) + ".com/", "http://" + strings.Repeat("a.", 200) + "com/", "http://www..example.com/",
	"http://1.2.3.4.5/", "http://256.1.1.1/", "http://0x1ffffffff/", "http://4294967296/", "http://09.1.1.1/",
	"https://www.example.com/" + strings.Repeat("a", 4000),
}

// Shapes returns the URLs: the spellings of the addresses inside, and the others.
func Shapes() []string {
	var shapes []string
	for _, text := range inside {
		a := netip.MustParseAddr(text).As4()
		n := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
		for _, host := range []string{
			text, text + ".", strconv.FormatUint(uint64(n), 10), fmt.Sprintf("0x%x", n), fmt.Sprintf("0%o", n),
			fmt.Sprintf("0x%02X.0x%02x.0x%02x.0x%02x", a[0], a[1], a[2], a[3]),
			fmt.Sprintf("%#o.%#o.%#o.%#o", a[0], a[1], a[2], a[3]), fmt.Sprintf("%04o.%04o.%04o.%04o", a[0], a[1], a[2], a[3]),
			fmt.Sprintf("%d.%d.%d", a[0], a[1], n&0xffff), fmt.Sprintf("%d.%d", a[0], n&0xffffff),
			fmt.Sprintf("0x%x.%d", a[0], n&0xffffff),
			"[::ffff:" + text + "]", fmt.Sprintf("[::ffff:%x:%x]", n>>16, n&0xffff),
			fmt.Sprintf("[64:ff9b::%x:%x]", n>>16, n&0xffff),
			fmt.Sprintf("[2002:%x:%x::1]", n>>16, n&0xffff), "[::" + text + "]",
			fmt.Sprintf("[2001:0:1::%x:%x]", ^n>>16, ^n&0xffff),
			strings.Map(wide, text), strings.ReplaceAll(text, ".", "。"), strings.ReplaceAll(text, ".", "｡"), percent(text),
			"user@" + text, text + ":6379", text + ":443",
		} {
			shapes = append(shapes, "http://"+host+"/")
		}
	}
	return append(shapes, others...)
}

// wide returns the full-width form of a digit.
func wide(r rune) rune {
	if r >= '0' && r <= '9' {
		return r - '0' + '０'
	}
	return r
}

func percent(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02x", text[i])
	}
	return b.String()
}
