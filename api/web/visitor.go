package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
)

// Limits of requests that start work. Beyond them a visitor's browser solves a puzzle;
// cached answers count against none.
const (
	perHour        = 10  // of a visitor
	perDay         = 40  // of a visitor
	perHourAI      = 3   // of a visitor, of the work that the AI has a part in
	perNetworkHour = 120 // of a network: carriers share addresses between many people
)

// worksWithAI are the endpoints whose work the AI has a part in.
var worksWithAI = []string{pathCompare, pathReport}

const (
	cookieVisitor = "v"
	// visitorTTL is how long a visitor is known, and youngest is the age of a visitor
	// before which a form was not filled in by a person.
	visitorTTL = 30 * 24 * time.Hour
	youngest   = 2 * time.Second

	// puzzleTTL is how long a puzzle can be solved, once. The hash of a solution begins
	// with puzzleBits zeros: about 65,000 tries, a second on a laptop.
	puzzleTTL  = 10 * time.Minute
	puzzleBits = 16
	maxPuzzle  = 200 // bytes of a puzzle with its solution

	keySecret = "page:secret"
	secretTTL = time.Minute // how long a process uses the secret that it has read
)

// errPuzzle tells the page to set a puzzle. RetryAfter is when none is needed.
var errPuzzle = problem.Because(http.StatusTooManyRequests, message.New("page/puzzle", nil), nil)

// visitors know who asks how often, by a signed cookie and by the network.
//
//	page:secret                     string: signs cookies and puzzles
//	page:count:<what>:<whose>       string: requests in a window of time
//	page:solved:<puzzle>            string: a puzzle that was used
type visitors struct {
	redis redis.UniversalClient

	mu     sync.Mutex
	secret []byte
	read   time.Time
}

// signer returns the secret of all processes, which the first one makes.
func (v *visitors) signer(parent context.Context) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.read) < secretTTL {
		return v.secret, nil
	}
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	secret, err := redisx.Secret(ctx, v.redis, keySecret)
	if err != nil {
		return nil, errRedis(err)
	}
	v.secret, v.read = secret, time.Now()
	return v.secret, nil
}

// sign returns a text with a time and its signature: <text>.<unix>.<signature>.
func sign(secret []byte, purpose, text string, at time.Time) string {
	signed := text + "." + strconv.FormatInt(at.Unix(), 10)
	return signed + "." + signature(secret, purpose, signed)
}

func signature(secret []byte, purpose, signed string) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(purpose + "\n" + signed))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// verify returns the text and the time of what sign returned; false for anything else.
func verify(secret []byte, purpose, value string) (text string, at time.Time, ok bool) {
	parts := strings.Split(value, ".")
	if len(parts) != 3 || len(value) > maxPuzzle { //nolint:mnd // text, time and signature
		return "", at, false
	}
	want := signature(secret, purpose, parts[0]+"."+parts[1])
	unix, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || !hmac.Equal([]byte(want), []byte(parts[2])) {
		return "", at, false
	}
	return parts[0], time.Unix(unix, 0), true
}

// Purposes of signatures, so that a cookie is no puzzle.
const (
	purposeVisitor = "visitor"
	purposePuzzle  = "puzzle"
)

// greet gives a visitor without a valid cookie one.
func (p *Pages) greet(w http.ResponseWriter, r *http.Request) error {
	secret, err := p.visitors.signer(r.Context())
	if err != nil {
		return err
	}
	if _, _, known := visitorOf(r, secret); known {
		return nil
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure unless the server has no TLS
		Name: cookieVisitor, Value: sign(secret, purposeVisitor, rand.Text(), time.Now()), Path: "/",
		MaxAge: int(visitorTTL / time.Second), HttpOnly: true, Secure: p.isSecure(r), SameSite: http.SameSiteLaxMode,
	})
	return nil
}

// admit returns what is called before the work of an endpoint starts for a request: it
// counts it, and returns errPuzzle when the visitor, or the network, has started much.
func (p *Pages) admit(r *http.Request, path string) func(context.Context) error {
	return func(ctx context.Context) error {
		secret, err := p.visitors.signer(ctx)
		if err != nil {
			return err
		}
		solved, err := p.visitors.solves(ctx, secret, sent(r, "puzzle"), sent(r, "solution"))
		if solved || err != nil {
			return err
		}
		// The network comes first: it bounds what is kept for visitors who are made up.
		network := window{"network", networkOf(p.options.Address(r)), time.Hour, perNetworkHour}
		if err := p.visitors.within(ctx, errPuzzle, network); err != nil {
			return err
		}
		id, age, known := visitorOf(r, secret)
		if !known || age < youngest {
			return errPuzzle
		}
		windows := []window{{"hour", id, time.Hour, perHour}, {"day", id, 24 * time.Hour, perDay}}
		if slices.Contains(worksWithAI, path) {
			windows = append(windows, window{"ai", id, time.Hour, perHourAI})
		}
		return p.visitors.within(ctx, errPuzzle, windows...)
	}
}

// sent returns a field of a form. That of a file has its fields in the address, so that
// they are known before the file has arrived.
func sent(r *http.Request, name string) string {
	return cmp.Or(r.PostForm.Get(name), r.URL.Query().Get(name))
}

// visitorOf returns who a visitor is, and how long ago the cookie was given; false for one
// without a valid cookie.
func visitorOf(r *http.Request, secret []byte) (id string, age time.Duration, known bool) {
	cookie, err := r.Cookie(cookieVisitor)
	if err != nil {
		return "", 0, false
	}
	id, at, ok := verify(secret, purposeVisitor, cookie.Value)
	age = time.Since(at)
	return id, age, ok && age < visitorTTL
}

// networkOf returns the network of an address: 24 bits of IPv4, 48 of IPv6.
func networkOf(address netip.Addr) string {
	length := 48
	if address.Unmap().Is4() {
		address, length = address.Unmap(), 24
	}
	prefix, err := address.Prefix(length)
	if err != nil || !address.IsValid() {
		return "none"
	}
	return strings.ReplaceAll(prefix.Addr().String(), ":", "-")
}

// window is a time in which something is counted.
type window struct {
	name, whose string
	length      time.Duration
	most        int64
}

// within counts a request in windows. When one of them has too many it returns the problem,
// with the time until there is room again.
func (v *visitors) within(parent context.Context, tooMany *problem.Problem, windows ...window) error {
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	now := time.Now()
	pipe := v.redis.Pipeline()
	counts := make([]*redis.IntCmd, len(windows))
	for i, w := range windows {
		key := fmt.Sprintf("page:count:%s:%s.%d", w.name, w.whose, now.Unix()/int64(w.length.Seconds()))
		counts[i] = pipe.Incr(ctx, key)
		pipe.Expire(ctx, key, w.length)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return errRedis(err)
	}
	wait := time.Duration(0)
	for i, w := range windows {
		if counts[i].Val() > w.most {
			wait = max(wait, w.length-time.Duration(now.UnixNano())%w.length)
		}
	}
	if wait == 0 {
		return nil
	}
	late := *tooMany
	return late.After(wait)
}

// puzzle is the page on which a browser solves a puzzle, and sends the form again.
type puzzle struct {
	Value  string
	Action string
	Fields [][2]string
	// Minutes is after how many minutes the form needs no puzzle, for a browser without
	// JavaScript; 0 means at once.
	Minutes int
}

// puzzleError is the puzzle for a program: the extension for browsers.
type puzzleError struct {
	vehicle.Error

	Puzzle string `json:"puzzle"`
}

// puzzle responds with a puzzle, and with the fields of the form that needs it, which
// needs none after a while.
func (p *Pages) puzzle(w http.ResponseWriter, r *http.Request, after time.Duration) error {
	secret, err := p.visitors.signer(r.Context())
	if err != nil {
		return err
	}
	body := puzzle{
		Value: sign(secret, purposePuzzle, rand.Text(), time.Now().Add(puzzleTTL)), Action: r.URL.Path,
		Minutes: int(math.Ceil(after.Minutes())),
	}
	if wantsJSON(r) {
		said := textOf(errPuzzle.Notice)
		return sendJSON(w, r, errPuzzle.Status, puzzleError{
			Error: vehicle.Error{Code: errPuzzle.Code, Message: said.EN, Text: &said}, Puzzle: body.Value,
		})
	}
	for name, values := range r.PostForm {
		if name != "puzzle" && name != "solution" {
			body.Fields = append(body.Fields, [2]string{name, values[0]})
		}
	}
	// Browsers report other statuses in the console.
	return p.render(w, r, http.StatusOK, screen{Name: "puzzle", Title: "puzzle.title", Body: body})
}

// solvedPuzzle returns which puzzle of ours is solved; false when none is.
func solvedPuzzle(secret []byte, value, solution string) (id string, solved bool) {
	id, until, ok := verify(secret, purposePuzzle, value)
	if !ok || time.Now().After(until) || len(solution) > maxPuzzle {
		return "", false
	}
	sum := sha256.Sum256([]byte(value + solution))
	return id, bits.LeadingZeros16(uint16(sum[0])<<8|uint16(sum[1])) >= puzzleBits
}

// solves reports whether a puzzle of ours is solved for the first time.
func (v *visitors) solves(parent context.Context, secret []byte, value, solution string) (bool, error) {
	id, solved := solvedPuzzle(secret, value, solution)
	if !solved {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	first, err := v.redis.SetNX(ctx, "page:solved:"+id, 1, puzzleTTL).Result()
	if err != nil {
		return false, errRedis(err)
	}
	return first, nil
}

type admitKey struct{}

// withAdmit lets a request ask before it starts work.
func withAdmit(ctx context.Context, admit func(context.Context) error) context.Context {
	return context.WithValue(ctx, admitKey{}, admit)
}

// Admit is called before work starts for a request of the pages. It returns an error when
// the visitor may not start more.
func Admit(ctx context.Context) error {
	if admit, ok := ctx.Value(admitKey{}).(func(context.Context) error); ok {
		return admit(ctx)
	}
	return nil
}
