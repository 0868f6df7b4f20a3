package web

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

// Page is the middleware of every page: the visitors of a network use no more than their share
// of the processors of this process. What a page takes is billed to them afterwards, with
// as much for the collector of the runtime, and what the connection, the log and Redis take.
func (p *Pages) Page(next request.Handler) http.Handler {
	return p.admitted(next, func(r *http.Request, took time.Duration) time.Duration {
		if r.Method == http.MethodPost { // it may wait for its body, and the API bills what it computes
			return min(2*took+besideTime, postTime)
		}
		return 2*took + besideTime
	})
}

// besideTime is what a page takes beside what is measured.
const besideTime = 1500 * time.Microsecond

// postTime is what a form takes beside the work of the API.
const postTime = 5 * time.Millisecond

// stream is the middleware of a page that lasts: it takes next to nothing.
func (p *Pages) stream(next request.Handler) http.Handler {
	return p.admitted(next, func(*http.Request, time.Duration) time.Duration { return 0 })
}

// admitted refuses the visitors of a network that has used more than its share. The page that says
// so is the same for all, and takes next to nothing.
func (p *Pages) admitted(next request.Handler, used func(r *http.Request, took time.Duration) time.Duration) http.Handler {
	page := p.Frame.Page(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		owner := pace.Caller(pace.Anonymous, request.From(r).Network)
		err := p.options.Processor.Admit(owner)
		if err == nil {
			began := time.Now()
			page.ServeHTTP(w, r)
			p.options.Processor.Bill(owner, used(r, time.Since(began)))
			return
		}
		spent, _ := errors.AsType[*pace.SpentError](err)
		wait := time.Second
		if spent != nil {
			wait = max(request.WholeSeconds(spent.Account.RetryAfter), wait)
		}
		said := message.New("page/spent", message.Values{"seconds": strconv.Itoa(int(wait.Seconds()))})
		why := problem.Because(http.StatusTooManyRequests, said, err).After(wait)
		why.SetHeader(w.Header())
		if frame.WantsJSON(r) && frame.SendJSON(w, why.Status, why.Body()) == nil {
			return
		}
		lang := p.Language(w, r)
		frame.Send(w, why.Status, "text/html; charset=utf-8", fmt.Appendf(nil,
			"<!doctype html><html lang=%q><meta name=viewport content=\"width=device-width\">"+
				"<title>Ushuru</title><p>%s</p></html>", lang, html.EscapeString(frame.TextOf(said).In(lang))))
	})
}
