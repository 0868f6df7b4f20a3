package listing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/sys/unix"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/testenv"
)

func TestReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Read(ctx, FromFile([]byte(filled(factRow, numbered("<p>Price: $#N</p>"), 1<<20)), dealerURL))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

func TestAPageThatCostsTooMuchIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	page := FromFile([]byte(factRow), dealerURL)
	large := FromFile(bytes.Repeat([]byte("x"), MaxBytes+1), dealerURL)
	for name, c := range map[string]struct {
		page      *fetch.Page
		read      func(*dom.Budget) error
		says      string
		retryable bool
	}{
		"steps": {page, func(b *dom.Budget) error { b.Spend(maxSteps + 1); return nil }, "too tangled", false},
		"size":  {large, func(*dom.Budget) error { return nil }, "larger than 4 MB", false},
		"time": {page, func(b *dom.Budget) error {
			for {
				testenv.Pass(time.Second) // Check reads that clock
				b.Check()
			}
		}, "took too long", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			failed := wantOutcome(t, limit(t.Context(), c.page, c.read), PageUnreadable)
			if !strings.Contains(failed.Message, c.says) || failed.Retryable != c.retryable {
				t.Errorf("%s: got %q, temporary %v; want %q, %v", name, failed.Message, failed.Retryable, c.says, c.retryable)
			}
		})
	}
}

// The memory that is set aside for a page is what its tree takes, or more.
func TestMemoryCoversTheTreeOfAPage(t *testing.T) {
	for _, part := range []string{"<img a b c=1>", "<p>", "<b>x</b>", "<a href=/1 class='a b'>TOYOTA VITZ</a> ", "some words of text "} {
		page := FromFile([]byte(strings.Repeat(part, 1<<20/len(part))), "")
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		root, err := html.Parse(bytes.NewReader(page.Body))
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		took := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if need := Memory(page); need < took || need > 20<<20 && need > 8*took {
			t.Errorf("%q: got %d KB for a tree of %d KB", part, need>>10, took>>10)
		}
		runtime.KeepAlive(root)
	}
}

// filled repeats a part, numbered, behind a head until the page has so many bytes.
func filled(head string, each func(i int) string, size int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < size; i++ {
		b.WriteString(each(i))
	}
	return b.String()
}

// numbered returns a part with its number in place of each "#N".
func numbered(part string) func(int) string {
	return func(i int) string { return strings.ReplaceAll(part, "#N", strconv.Itoa(i)) }
}

// nested opens an element so often and begins again behind it, as deep as a parser takes it.
func nested(open, inside, shut string) func(int) string {
	depth := 480 / strings.Count(open, "<")
	return numbered(strings.Repeat(open, depth) + inside + strings.Repeat(shut, depth))
}

const (
	ldOpen  = `<script type="application/ld+json">`
	factRow = `<table><tr><th>Make</th><td>TOYOTA</td></tr><tr><th>Model</th><td>VITZ</td></tr>` +
		`<tr><th>Model Code</th><td>DBA-NSP130</td></tr><tr><th>Price</th><td>US$ 3,500</td></tr></table>`
)

// selectors are rules of a style sheet that strike or hide by long selectors.
func selectors(declaration string) string {
	var b strings.Builder
	b.WriteString("<style>")
	for i := range 100 {
		fmt.Fprintf(&b, ".a div .b div .c .x%d {%s}\n", i, declaration)
	}
	return b.String() + "</style>"
}

// hostileShapes are the pages that grow: each is a head, and a part that is repeated.
var hostileShapes = map[string]struct {
	head string
	each func(int) string
}{
	"headings of others":         {factRow, numbered(`<h2>Similar cars #N</h2><p>TOYOTA $5</p>`)},
	"headings of others in divs": {factRow, nested(`<div><h2>Similar cars</h2>`, `<p>TOYOTA $5</p>`, `</div>`)},
	"headings wrapped":           {factRow, numbered(`<div><div><div><h3>You may also like</h3></div></div></div><p>TOYOTA $5</p>`)},
	"headings in bold":           {factRow, numbered(`<p><b>Related cars</b></p><p>1999 NISSAN #N</p>`)},
	"headings of all levels":     {factRow, func(i int) string { return fmt.Sprintf("<h%d>Other cars</h%d><p>$5</p>", i%6+1, i%6+1) }},
	"first headings":             {"", numbered(`<h1>TOYOTA VITZ #N</h1>`)},
	"first headings and facts":   {factRow, numbered(`<h1>TOYOTA VITZ #N</h1><ul><li>Fuel: Petrol</li></ul>`)},
	"selectors that hide":        {selectors("display:none"), nested(`<div class="a b c x9">`, `x`, ``)},
	"selectors that show":        {selectors("display:block"), nested(`<div class="a b c x9">`, `x`, ``)},
	"cards of a list":            {"<h1>25 results</h1>", numbered(`<div><a href="/stock/7#N">Toyota Vitz 2012</a><b>US$ #N</b></div>`)},
	"links nested in a list":     {"<h1>25 results</h1>", nested(`<div><a href="/stock/70021">Toyota</a>`, `x`, `</div>`)},
	"selectors that strike":      {selectors("text-decoration:line-through"), nested(`<div class="a b c x9">`, `x`, ``)},
	"style rules":                {"<style>", numbered(`.a#N, #b#N > p {text-decoration: line-through}` + "\n")},
	"style rules with elements":  {"", numbered(`<style>.a#N{display:none}</style><p class="a#N">$5</p>`)},
	"style braces":               {"<style>line-through", numbered(`{{}`)},
	"nested divs":                {"", nested(`<div>`, `x`, `</div>`)},
	"nested divs with prices":    {"", nested(`<div>Price: $5`, `x`, `</div>`)},
	"nested spans":               {"", nested(`<span>`, `x`, `</span>`)},
	"nested lists":               {"", nested(`<ul><li>`, `Fuel: Petrol`, `</li></ul>`)},
	"nested sections":            {"", nested(`<section class="similar">`, `US$ 5`, `</section>`)},
	"open paragraphs":            {"", numbered(`<p>`)},
	"open paragraphs deep":       {strings.Repeat("<div>", 480), numbered(`<p>x`)},
	"open formatting":            {"", nested(`<b>`, `<p>x</p>`, ``)},
	"open formatting of kinds":   {`<b><i><u><em><strong><small><big><tt><code><s><strike>`, numbered(`<p>x</p>`)},
	"open links":                 {"", numbered(`<a href="/cars/#N">TOYOTA`)},
	"open items":                 {"<ul>", numbered(`<li>Fuel: x`)},
	"open fonts":                 {"", numbered(`<font size=#N>x<p>`)},
	"ends without a beginning":   {"", numbered(`</p></b></div>`)},
	"empty elements":             {"", numbered(`<i></i>`)},
	"empty boxes":                {"", numbered(`<div></div>`)},
	"attributes":                 {"<b", numbered(` a#N=1`)},
	"same attributes":            {"", numbered(`<img a b c=1>`)},
	"classes":                    {`<p class="`, numbered(`old-price was#N `)},
	"inline styles":              {"", numbered(`<p style="color:red;display:none;a:#N">$5</p>`)},
	"tables":                     {"", numbered(`<table><tr><th>Make</th><td>TOYOTA #N</td></tr></table>`)},
	"tables nested":              {"", nested(`<table><tr><td>`, `Make: TOYOTA`, `</td></tr></table>`)},
	"rows":                       {"<table>", numbered(`<tr><td>Price</td><td>$#N</td></tr>`)},
	"cells":                      {"<table><tr>", numbered(`<td>Price</td>`)},
	"strips of labels":           {"<table>", numbered(`<tr><th>Make</th><th>Model</th><th>Year</th></tr><tr><td>TOYOTA</td><td>VITZ</td><td>2012</td></tr>`)},
	"text that is no cell":       {"<table>", numbered(`x<p>`)},
	"definitions":                {"<dl>", numbered(`<dt>Price</dt><dd>$#N</dd>`)},
	"labels without values":      {"", numbered(`<p>Price</p>`)},
	"labels in bold":             {"<p>", numbered(`<b>Price:</b> $#N<br>`)},
	"lines":                      {"<p>", numbered(`Price: $#N<br>`)},
	"colons":                     {"<p>", numbered(`:`)},
	"one long text":              {"<p>", numbered(`Price US$ #N `)},
	"texts with marks":           {"", numbered(`<span>$</span>`)},
	"JSON-LD nesting":            {ldOpen, numbered(`{"@graph":[`)},
	"JSON-LD cars":               {ldOpen + "[", numbered(`{"@type":"Car","model":"V#N","url":"/#N"},`)},
	"JSON-LD blocks":             {"", numbered(ldOpen + `{"@type":"Car","name":"V#N"}</script>`)},
	"JSON-LD references":         {ldOpen + "[", numbered(`{"@id":"#N","offers":{"@id":"#N1"}},`)},
	"JSON-LD one id":             {ldOpen + "[", numbered(`{"@id":"a","@type":"Car","name":"#N"},`)},
	"JSON-LD offers":             {ldOpen + `{"@type":"Car","model":"x","offers":[`, numbered(`{"@type":"Offer","price":#N},`)},
	"JSON-LD comments":           {ldOpen, numbered(`/**/`)},
	"JSON-LD open comments":      {ldOpen, numbered(`/*`)},
	"JSON-LD escapes":            {ldOpen + `{"name":"`, numbered(`\"`)},
	"JSON-LD quotes escaped":     {ldOpen + `{&quot;`, numbered(`&quot;`)},
	"microdata":                  {"", numbered(`<div itemscope itemtype="http://schema.org/Car"><b itemprop="model">V#N</b></div>`)},
	"microdata references":       {"", numbered(`<div itemscope itemtype="http://schema.org/Car" id="i#N" itemref="i#N1 a"></div>`)},
	"microdata to all":           {`<div id="a"><p>`, numbered(`<div itemscope itemtype="http://schema.org/Car" itemref="a"></div>`)},
	"microdata nested":           {"", nested(`<div itemscope itemprop="offers" itemtype="http://schema.org/Car">`, `x`, `</div>`)},
	"microdata properties":       {`<div itemscope itemtype="http://schema.org/Car">`, numbered(`<b itemprop="price">#N</b>`)},
	"properties nested":          {`<div itemscope itemtype="http://schema.org/Car">`, nested(`<span itemprop="name">`, `x`, `</span>`)},
	"RDFa":                       {`<div vocab="http://schema.org/">`, numbered(`<div typeof="Car" resource="#N"><b property="model">V</b></div>`)},
	"RDFa nested":                {`<div vocab="http://schema.org/">`, nested(`<div typeof="Car" property="offers">`, `x`, `</div>`)},
	"RDFa prefixes":              {`<div prefix="`, numbered(`a#N: http://schema.org/ `)},
	"comments":                   {"", numbered(`<!-- $5 -->`)},
	"open comments":              {"", numbered(`<!-`)},
	"declarations":               {"", numbered(`<!a><?b>`)},
	"entities":                   {"<p>", numbered(`&amp;&#36;&nbsp;&notit;`)},
	"ampersands":                 {"<p>", numbered(`&`)},
	"open tags":                  {"", numbered(`<`)},
	"open quotes":                {"", numbered(`<a href="`)},
	"scripts":                    {"", numbered(`<script>var a = "$#N"</script>`)},
	"scripts of data":            {"", numbered(`<script type="application/json">{"price":#N,"refno":"#N"}</script>`)},
	"one script":                 {"<script>", numbered("<td>a</td>\n</table>\n")},
	"script comments":            {"<script><!--", numbered(`<script`)},
	"pushed rows":                {"", numbered(`<script>self.__next_f.push([1,"#N:{}\n"])</script>`)},
	"CDATA":                      {"<svg>", numbered(`<![CDATA[x]]>`)},
	"forms":                      {"", numbered(`<form><input name=a#N id=a#N value="$5"></form>`)},
	"options":                    {"<select>", numbered(`<option value="#N">TOYOTA $5`)},
	"buttons":                    {"", numbered(`<button>Price`)},
	"cards":                      {factRow, numbered(`<div class="card"><a href="/stock/9#N/"><img src="/a.jpg">TOYOTA VITZ</a> US$ 5#N</div>`)},
	"cards in lists":             {factRow, numbered(`<ul><li><a href="/stock/9#N/">NISSAN</a> $5</li><li><a href="/stock/8#N/">MAZDA</a> $5</li><li><a href="/stock/7#N/">MAZDA</a> $5</li></ul>`)},
	"cards of facts":             {"", numbered(`<ul><li>Make: TOYOTA</li><li>Model: V#N</li><li>Year: 2012</li><li>Price: $5#N</li></ul>`)},
	"cards of classes":           {"", numbered(`<div class="c#N"><a href="/9#N">x</a> $5</div>`)},
	"makes":                      {"<p>", numbered(`TOYOTA NISSAN `)},
	"years":                      {"<p>", numbered(`2012 1999/`)},
	"prices":                     {"", numbered(`<p class="vehicle-price">US$ 5,#N</p>`)},
	"prices withheld":            {`<ul id="bread"></ul><table class="specification"></table>`, numbered(`<p class="vehicle-price">ASK</p>`)},
	"instalments":                {"", numbered(`<p>Price</p><p>$#N per month</p>`)},
	"links":                      {"", numbered(`<a href="/stock/#N99">x</a>`)},
	"links nested":               {"", nested(`<div><a href="/stock/#N99">x</a>`, `x`, `</div>`)},
	"base tags":                  {"", numbered(`<base href="/#N/">`)},
	"metas":                      {"", numbered(`<meta property="og:p#N" content="$5">`)},
	"pictures":                   {"", numbered(`<img src="/#N.jpg" data-src="/#N.jpg" alt="sold #N">`)},
	"srcset":                     {`<img srcset="`, numbered(`/#N.jpg #Nw, `)},
	"svg":                        {"<svg>", numbered(`<g><path d="M0 0"/></g>`)},
	"svg nested":                 {"", nested(`<svg><g>`, `<foreignObject>`, ``)},
	"templates":                  {"", numbered(`<template><p>$5</p></template>`)},
	"templates nested":           {"", nested(`<template>`, `x`, `</template>`)},
	"notices":                    {"", numbered(`<p>This car has been sold</p>`)},
	"asides":                     {"", numbered(`<aside class="related">NISSAN</aside>`)},
	"frames":                     {"", numbered(`<frameset><frame>`)},
	"plain text":                 {"<plaintext>", numbered(`<p>Price: $5</p>`)},
	"breaks":                     {"<table><tr><td>Model Code</td><td>", numbered(`DBA-<br>`)},
	"breadcrumbs":                {`<ul class="breadcrumb">`, numbered(`<li><a href="/#N">TOYOTA</a>`)},
	"ids":                        {"", numbered(`<p id="a#N">x</p>`)},
	"rental":                     {"", numbered(`<p>Price: $5 / day</p>`)},
}

// cost returns the processor time of the thread that reads a page: the least of some runs.
func cost(markup string, runs int) time.Duration {
	return processorOf(runs, func() { _, _ = Read(context.Background(), FromFile([]byte(markup), dealerURL)) })
}

// processorOf returns the processor time that work takes of its thread: the least of some runs.
func processorOf(runs int, work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(math.MaxInt64)
	for range runs {
		began := threadTime()
		work()
		best = min(best, threadTime()-began)
	}
	return best
}

// threadTime returns the processor time that the thread has used.
func threadTime() time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Nano())
}

// growth returns the exponent of the cost between n, 2n and 4n bytes.
func growth(size int, page func(int) string) (exponent float64, costs []time.Duration) {
	for _, n := range []int{size, 2 * size, 4 * size} {
		costs = append(costs, cost(page(n), 2))
	}
	return math.Log2(float64(costs[2])/float64(costs[0])) / 2, costs
}

// A page that is twice as long takes twice as long to read, whatever it is made of.
func TestReadingGrowsWithThePage(t *testing.T) { //nolint:tparallel // shapes that run at once would disturb each other
	testenv.Long(t)
	t.Parallel()
	size, most := 32<<10, 1.2
	names := make([]string, 0, len(hostileShapes))
	for name := range hostileShapes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		shape := hostileShapes[name]
		page := func(n int) string { return filled(shape.head, shape.each, n) }
		t.Run(name, func(t *testing.T) {
			exponent, costs := growth(size, page) // a disturbed measurement is repeated
			for tries := 0; exponent > most && tries < 3; tries++ {
				exponent, costs = growth(size, page)
			}
			if exponent > most {
				t.Errorf("exponent %.2f, want at most %.1f: %v", exponent, most, costs)
			}
		})
	}
}

// The largest page costs a second of a usual processor at most, whatever it is made of. The second is
// told in the time that the same machine needs to parse a page of plain prices of that size (about 0.06 s).
func TestTheLargestPageIsReadInASecond(t *testing.T) {
	testenv.Long(t)
	size := 4<<20 - 8192
	plain := filled("", numbered(`<p>US$ 5,#N</p>`), size)
	second := func() time.Duration {
		return 16 * processorOf(2, func() { _, _ = html.Parse(strings.NewReader(plain)) })
	}
	most := second()
	for name, shape := range hostileShapes {
		t.Run(name, func(t *testing.T) {
			page := filled(shape.head, shape.each, size)
			took := cost(page, 1)
			for tries := 0; took > most && tries < 4; tries++ { // a disturbed measurement is repeated
				most = second()
				took = cost(page, 2)
			}
			if took > most {
				t.Errorf("got %v, want %v at most", took, most)
			}
		})
	}
}
