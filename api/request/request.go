// Package request has the handlers of requests: it reads who sends one, how its answer is
// wanted, and its body within bounds; it writes the response, or the problem in its place, and
// records it for the log.
package request

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gorilla/mux"
	"github.com/klauspost/compress/gzip"

	"ushuru/api/problem"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
)

// Request is a request to the API, and what its endpoints know of it.
type Request struct {
	*http.Request
	Representation // of the result in the response

	ID      string
	Trace   string   // traceparent of its span; empty when it is not recorded
	Address string   // of the client
	Network string   // of the client, by which visitors without a key are counted
	Visitor string   // who sends it among the visitors of the network; "" for who has no cookie
	Key     keys.Key // the caller's, once it is verified
	Refused string   // id of the key that was refused, if there is one

	Strict  bool     // the request wants to be refused for fields that do not exist
	Ignored []string // fields of the request that do not exist

	Prefer         Preference
	IdempotencyKey string // empty without one

	Counted bool // against the rate of the key
	Place   Place
	Job     string // id of the job that the request waits for or reads, if any

	Sender string // of a page of a listing that a visitor sent; empty for the request of a key
}

type contextKey struct{}

// With returns the context of a request that From finds again, whose commands of Redis are bounded.
func With(ctx context.Context, r *Request) context.Context {
	return context.WithValue(redisx.Bound(ctx, RedisTimeout), contextKey{}, r)
}

// From returns what is known of a request.
func From(r *http.Request) *Request {
	known, _ := r.Context().Value(contextKey{}).(*Request)
	if known == nil {
		known = &Request{}
	}
	known.Request = r
	return known
}

// Var returns a variable of the path.
func (r *Request) Var(name string) string { return mux.Vars(r.Request)[name] }

// Origin is what the jobs of the request are found by in logs and traces.
func (r *Request) Origin() jobs.Origin {
	origin := jobs.Origin{Request: r.ID, Trace: r.Trace}
	if r.Key.ID == pace.Anonymous {
		origin.Network, origin.Visitor = r.Network, r.Visitor
	}
	return origin
}

// Caller returns whose limits the request counts against: the key's, or, of visitors
// without one, those of their network.
func (r *Request) Caller() string { return pace.Caller(r.Key.ID, r.Network) }

// Holder returns whose accounts the request counts against: a key's, or a visitor's within the network.
func (r *Request) Holder() pace.Holder {
	holder := pace.Holder{Whole: r.Caller()}
	if r.Key.ID == pace.Anonymous {
		holder.Part = cmp.Or(r.Visitor, "none")
	}
	return holder
}

// NetworkOf returns the network of an address: 24 bits of IPv4, 48 of IPv6.
func NetworkOf(address netip.Addr) string {
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

// Place is what a request has while it is computed: its turn at the processors, and, while
// a large body is read, room in memory.
type Place struct {
	Turn    *pace.Turn // nil without one
	Release func()     // gives the room back; nil without one
}

// Leave gives the place back, once the body is not needed.
func (p *Place) Leave() {
	p.Turn.Give()
	if p.Release != nil {
		p.Release()
	}
}

// ReadParameters takes over the parameters in the query that every endpoint has: the
// language of the response, and whether fields that do not exist are refused; and what the
// caller prefers, who waits at most for waitMax.
func (r *Request) ReadParameters(waitMax time.Duration) (err error) {
	r.Prefer = parsePreference(r.Header, waitMax)
	query := r.URL.Query()
	if r.View, err = parseView(query.Get("lang")); err != nil {
		return err
	}
	r.Strict, err = Flag(query, "strict")
	return err
}

// Preference is what a caller requests with Prefer (RFC 7240). Unknown and
// malformed preferences are ignored, as the RFC requires.
type Preference struct {
	Async   bool          // respond-async
	Waits   bool          // wait=N was given
	Wait    time.Duration // its N, at most what the server allows
	waitMax time.Duration
}

// parsePreference parses the Prefer headers. Of a preference given twice, the
// first applies.
func parsePreference(h http.Header, waitMax time.Duration) Preference {
	p := Preference{waitMax: waitMax}
	for item := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		item, _, _ = strings.Cut(item, ";")
		name, value, _ := strings.Cut(item, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "respond-async":
			p.Async = true
		case "wait":
			n, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err == nil && !p.Waits {
				p.Waits, p.Wait = true, min(time.Duration(n)*time.Second, waitMax)
			}
		}
	}
	return p
}

// Accepts reports whether the caller accepts 202 with a job.
func (p Preference) Accepts() bool { return p.Async || p.Waits }

// Timeout is how long to wait for a result: as long as the caller says,
// not at all for respond-async alone, and as long as the server allows for a
// caller who states no preference.
func (p Preference) Timeout() time.Duration {
	if p.Accepts() {
		return p.Wait
	}
	return p.waitMax
}

// Applied returns the value of Preference-Applied. Async says that the response
// is a job instead of its result.
func (p Preference) Applied(async bool) string {
	var words []string
	if p.Async && async {
		words = append(words, "respond-async")
	}
	if p.Waits {
		words = append(words, "wait="+strconv.Itoa(int(p.Wait.Seconds())))
	}
	return strings.Join(words, ", ")
}

var (
	errLangInvalid = problem.BadRequest("lang_invalid").Of("lang")
	errOneLanguage = problem.BadRequest("lang_invalid.one").Of("lang")
)

// parseView parses the languages of an answer. The default is English.
func parseView(lang string) (message.View, error) {
	if !slices.Contains([]string{"", message.English, message.Swahili, message.All}, lang) {
		return message.View{}, errLangInvalid
	}
	return message.ViewIn(lang), nil
}

// ParseLanguage parses the language of what is written in one. The default is English.
func ParseLanguage(lang string) (string, error) {
	view, err := parseView(lang)
	if view.Both {
		err = errOneLanguage
	}
	return view.Lang, err
}

// SetBodyLanguage takes the language of a response from the field lang of a body
// that has one.
func (r *Request) SetBodyLanguage(body []byte) error {
	var given struct {
		Lang json.RawMessage `json:"lang"`
	}
	_ = json.Unmarshal(body, &given) // the handler refuses a body that is no JSON
	if jsonobject.IsAbsent(given.Lang) {
		return nil
	}
	var lang string
	if json.Unmarshal(given.Lang, &lang) != nil {
		return errLangInvalid
	}
	if lang == "" {
		return nil
	}
	view, err := parseView(lang)
	if err != nil {
		return err
	}
	r.View = message.View{Lang: view.Lang, Both: view.Both || r.Both}
	return nil
}

// Why a request cannot be read.
var (
	ErrUnreadable           = problem.BadRequest("body_unreadable")
	ErrInvalidJSON          = problem.BadRequest("invalid_json")
	ErrURLMissing           = problem.BadRequest("url_missing").Of("url")
	ErrPageInvalid          = problem.BadRequest("page_invalid")
	errUnsupportedMediaType = problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", nil)
	ErrTooSlow              = problem.New(http.StatusRequestTimeout, "body_too_slow", nil)
)

// MaxBody is the maximum size of a request without a page, in bytes. Real requests
// are far smaller.
const MaxBody = 64 << 10

// Body is the body of a request. TypeProblem returns the problem of a field
// that has the wrong JSON type; an empty field means the whole body.
type Body interface {
	TypeProblem(field string) *problem.Problem
}

// JSON reads the body of a request, one JSON value of up to limit bytes, into
// body. Unknown fields are ignored, so that a client of a later version of the
// API works with this one; the request remembers their names.
func (r *Request) JSON(w http.ResponseWriter, limit int64, body Body) error {
	defer r.Place.Turn.Give()
	if !isPlainJSON(r.Header) {
		return errUnsupportedMediaType
	}
	data, err := UpTo(http.MaxBytesReader(w, r.Body, limit), limit, r.ContentLength)
	switch {
	case err != nil:
		return BodyProblem(err, problem.BodyTooLarge(limit), ErrUnreadable)
	case !utf8.Valid(data):
		return ErrInvalidJSON
	}
	if err := r.Place.Turn.Begin(r.Context()); err != nil {
		return err
	}
	if err := r.SetBodyLanguage(data); err != nil {
		return err
	}
	data = PlainNumbers(data)
	err = json.Unmarshal(data, body)
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return body.TypeProblem(wrongType.Field).WithCause(err)
	}
	if err != nil {
		return ErrInvalidJSON.WithCause(err)
	}
	return r.Ignore(jsonobject.Unknown("", data, body, "lang")...)
}

// PlainNumbers returns JSON in which no number has an exponent or a fraction of zeros, which
// Go does not read as a whole number: 2016.0 and 2.016e3 become 2016.
func PlainNumbers(data []byte) []byte {
	var plain []byte
	taken := 0
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '"':
			i++
			for i < len(data) && data[i] != '"' {
				if data[i] == '\\' {
					i++
				}
				i++
			}
			i++
		case c == '-' || '0' <= c && c <= '9':
			end := i + len(data[i:]) - len(bytes.TrimLeft(data[i:], "+-.eE0123456789"))
			text := string(data[i:end])
			if number, err := money.ParseJSONNumber(text); err == nil && number.String() != text {
				plain = append(append(plain, data[taken:i]...), number.String()...)
				taken = end
			}
			i = end
		default:
			i++
		}
	}
	if taken == 0 {
		return data
	}
	return append(plain, data[taken:]...)
}

// isPlainJSON reports whether the headers announce uncompressed JSON in UTF-8.
// A body without Content-Type is assumed to be JSON.
func isPlainJSON(h http.Header) bool {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return false
	}
	contentType := h.Get("Content-Type")
	if contentType == "" {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && mediaType == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// Decode makes the body of a request plain that came as gzip. Its size is not known then:
// the reader must bound what it takes, because a small body can become a large one. A body
// in another coding stays as it is, with its header.
func Decode(r *http.Request) {
	coding := strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ","))
	if strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip") {
		r.Header.Del("Content-Encoding")
		r.Body, r.ContentLength = &gzipBody{sent: r.Body}, -1
	}
}

// gzipBody is a body that is decompressed while it is read.
type gzipBody struct {
	sent  io.ReadCloser
	wire  int64 // bytes that came
	plain *gzip.Reader
}

// wireReader counts what comes.
type wireReader struct{ *gzipBody }

func (w wireReader) Read(p []byte) (int, error) {
	n, err := w.sent.Read(p)
	w.wire += int64(n)
	return n, err
}

// Read decompresses.
func (b *gzipBody) Read(p []byte) (n int, err error) {
	if b.plain == nil {
		if b.plain, err = gzip.NewReader(wireReader{b}); err != nil {
			return 0, withoutEOF(err)
		}
	}
	return b.plain.Read(p)
}

// withoutEOF returns io.EOF as an error of a body that ends too early: an empty body is
// not gzip.
func withoutEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Close closes the body.
func (b *gzipBody) Close() error { return b.sent.Close() }

// WireBytes returns how many bytes of a compressed body have arrived; false for a body that is not
// compressed.
func WireBytes(body io.Reader) (int64, bool) {
	compressed, ok := body.(*gzipBody)
	if !ok {
		return 0, false
	}
	return compressed.wire, true
}

// maxParts is the maximum number of parts of a form.
const maxParts = 16

// errTooManyParts means a form with more parts.
var errTooManyParts = fmt.Errorf("request: a form with more than %d parts", maxParts)

// EachPart calls read with the parts of the form in a request, one after the other, and stops
// at its first error. A form with too many parts is one.
func EachPart(r *http.Request, read func(*multipart.Part) error) error {
	form, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for count := 0; ; count++ {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil && count == maxParts:
			return errTooManyParts
		case err == nil:
			err = read(part)
		}
		if err != nil {
			return err
		}
	}
}

// UpTo reads up to limit bytes, and one more of what is larger, without copying
// them while they grow. Size is an estimate, -1 when there is none.
func UpTo(r io.Reader, limit, size int64) ([]byte, error) {
	if size < 0 {
		return io.ReadAll(io.LimitReader(r, limit+1))
	}
	var buffer bytes.Buffer
	buffer.Grow(int(min(size, limit)) + bytes.MinRead)
	_, err := buffer.ReadFrom(io.LimitReader(r, limit+1))
	return buffer.Bytes(), err
}

// BodyProblem returns the problem of a body that cannot be read: the problem that its reader
// returned, tooLarge, that the body did not arrive in time, or other.
func BodyProblem(err error, tooLarge, other *problem.Problem) *problem.Problem {
	if known, ok := errors.AsType[*problem.Problem](err); ok {
		return known
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge.WithCause(err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrTooSlow.WithCause(err)
	}
	return other.WithCause(err)
}

// Hash identifies what a caller sent.
func Hash[T string | []byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// HashSent identifies a page that a request contains, together with the visitor who sent it.
func (r *Request) HashSent(page string) string {
	if r.Sender != "" {
		page = r.Sender + "\n" + page
	}
	return Hash(page)
}

// maxIgnored is how many fields a warning names.
const maxIgnored = 20

// Ignore remembers fields of a request that do not exist, for the warning about them.
// A strict request is refused instead.
func (r *Request) Ignore(names ...string) error {
	r.Ignored = append(r.Ignored, names...)
	if len(names) == 0 || !r.Strict {
		return nil
	}
	refused := problem.New(http.StatusBadRequest, "field_unknown", ignoredValues(names))
	refused.Param = names[0]
	return refused
}

// ignoredValues are the values of the text about fields that do not exist.
func ignoredValues(names []string) message.Values {
	if len(names) > maxIgnored {
		names = append(slices.Clone(names[:maxIgnored]), "…")
	}
	return message.Values{"fields": strings.Join(names, ", ")}
}

// Warnings returns the warning about the fields that were ignored; nil when there are
// none.
func (r *Request) Warnings() []vehicle.Warning {
	if len(r.Ignored) == 0 {
		return nil
	}
	return []vehicle.Warning{message.New("warning/field_ignored", ignoredValues(r.Ignored))}
}

// Flag parses a parameter that is true or false. Without it, it is false.
func Flag(query url.Values, name string) (bool, error) {
	if !query.Has(name) {
		return false, nil
	}
	switch query.Get(name) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, problem.Field(name, "boolean")
}

// ListingURL returns the canonical form of a listing's URL, or says what is
// wrong with it.
func ListingURL(raw string, allowLoopback bool) (string, error) {
	if raw == "" {
		return "", ErrURLMissing
	}
	url, err := listing.Canonical(raw, allowLoopback)
	return url, URLProblem(err)
}

// URLProblem returns the response of a URL that was rejected.
func URLProblem(err error) error {
	public, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	return problem.Because(http.StatusBadRequest, public.Notice, err).Of("url")
}

// Bounds of the metadata of a request.
const (
	maxMetadataKeys  = 8
	maxMetadataBytes = 512
)

// Tags are what a caller gives to a request and finds in its job and the event of its end: words
// of its own, and which of its webhooks gets the event.
type Tags struct {
	Metadata map[string]string
	Webhook  string // its id
}

// TagFields are the fields of a body with the tags.
type TagFields struct {
	Metadata json.RawMessage `json:"metadata"`
	Webhook  json.RawMessage `json:"webhook"`
}

// ReadTags takes over the tags in the body of a request.
func (r *Request) ReadTags(body TagFields) (err error) {
	if r.Tags.Metadata, err = ParseMetadata(body.Metadata); err != nil || jsonobject.IsAbsent(body.Webhook) {
		return err
	}
	if json.Unmarshal(body.Webhook, &r.Tags.Webhook) != nil {
		return problem.Field("webhook", "text")
	}
	return nil
}

// ParseMetadata parses the metadata of a caller; nil without any.
func ParseMetadata(value json.RawMessage) (metadata map[string]string, err error) {
	if jsonobject.IsAbsent(value) {
		return nil, nil //nolint:nilnil // nil is none
	}
	size := 0
	if err = json.Unmarshal(value, &metadata); err == nil {
		for name, text := range metadata {
			size += len(name) + len(text)
		}
	}
	if err != nil || size > maxMetadataBytes || len(metadata) > maxMetadataKeys {
		return nil, problem.Field("metadata", "metadata", maxMetadataKeys, maxMetadataBytes).WithCause(err)
	}
	return metadata, nil
}

// SetQuery adds the tags to the query of a URL.
func (t Tags) SetQuery(query url.Values) {
	if len(t.Metadata) > 0 {
		if data, err := plainjson.Encode(t.Metadata); err == nil {
			query.Set("metadata", string(data))
		}
	}
	if t.Webhook != "" {
		query.Set("webhook", t.Webhook)
	}
}

// TagsOf returns the tags in the query of a URL.
func TagsOf(query url.Values) (t Tags, err error) {
	t.Webhook = query.Get("webhook")
	t.Metadata, err = ParseMetadata(json.RawMessage(query.Get("metadata")))
	return t, err
}
