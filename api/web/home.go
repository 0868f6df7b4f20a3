package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/bill"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
)

// Names finds the makes whose entries a text may name, and the words that the entries are
// searched for with.
type Names func(ctx context.Context, text string) (makes []string, query string, err error)

// Models lists the models of a make that have entries which a query fits, and the chassis code
// that the query is.
type Models func(ctx context.Context, mk, query string) (models []string, code string, err error)

// home responds with the form for a car: its link, its name, or whatever else a visitor has of it. A
// link in the query, or in a text that a phone shares, fills it.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	filled := r.URL.Query()
	typed, shared := strings.TrimSpace(filled.Get("u")), strings.TrimSpace(filled.Get("text"))
	link := cmp.Or(linkIn(typed), typed, linkIn(shared), shared)
	filled.Set("u", link[:min(len(link), maxText)])
	return p.showForm(w, r, http.StatusOK, formPage{name: "home", isStart: r.URL.RawQuery == "", Filled: filled})
}

// submit answers the forms that need an estimate: it starts the work, and leads to the
// page of its answer.
func (p *Pages) submit(w http.ResponseWriter, r *http.Request) error {
	page, release, err := p.readForm(w, r)
	defer release()
	typed := strings.TrimSpace(r.PostForm.Get("u"))
	switch {
	case err != nil:
		return err
	case page == nil:
		if answered, err := p.meant(w, r, typed); answered || err != nil {
			return err
		}
	case page.html == "":
		if page, err = p.sentFile(w, r, page.file); page == nil {
			return err
		}
	}
	wanted := linkOf(pathEstimate, r.PostForm)
	if page != nil {
		of := request.From(r)
		wanted.page, of.Sender = page, page.sender
		wanted.Fields.Set("upload", of.HashSent(page.html))
	}
	return p.lead(w, r, wanted, func(said message.Text, why *problem.Problem) error {
		return p.showForm(w, r, frame.StatusOf(why), homePage(typed, said))
	})
}

// toHome leads from an address that is for forms alone to the form, with what was asked.
func (*Pages) toHome(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/?"+url.Values{"u": {r.URL.Query().Get("u")}}.Encode(), http.StatusSeeOther)
	return nil
}

// meant answers a text that is not the link of a car as what it is: lines of a bill, the link of
// a sheet, a sum that can be paid, the name of a car or its chassis number. It reports false for
// the link of a car, and for what the API is to refuse.
func (p *Pages) meant(w http.ResponseWriter, r *http.Request, text string) (answered bool, err error) {
	if at := p.ownAnswer(r, text); at != nil { // of a message that somebody shared
		http.Redirect(w, r, at.RequestURI(), http.StatusSeeOther)
		return true, nil
	}
	links, lines, isBill := linksIn(text), "", false
	err = p.inTurn(r.Context(), r, func(context.Context) error {
		lines, isBill = bill.Lines(linkPattern.ReplaceAllString(text, " "))
		return nil
	})
	switch {
	case err != nil:
		return false, err
	case isBill:
		r.PostForm = url.Values{"text": {lines}, "u": {append(links, "")[0]}}
		return true, p.submitForm("bill")(w, r)
	case len(links) == 1 && isSheetLink(links[0]):
		r.PostForm = url.Values{"u": links}
		return true, p.submitForm("sheet")(w, r)
	case len(links) > 1:
		return true, p.unclear(w, r, "page/home.several", text, links...)
	case len(links) > 0 || schemePattern.MatchString(text):
		return false, nil
	case text == "":
		return true, p.unclear(w, r, "page/home.no_link", "")
	}
	address, err := p.described(r, text)
	switch {
	case err != nil:
		return false, err
	case address == "":
		return true, p.unclear(w, r, "page/home.unclear", text)
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return true, nil
}

// unclear responds with the form again, and why its text is no answer.
func (p *Pages) unclear(w http.ResponseWriter, r *http.Request, why, typed string, links ...string) error {
	page := homePage(typed, message.Say(why, nil))
	page.Links = links
	return p.showForm(w, r, http.StatusUnprocessableEntity, page)
}

// described returns the address of the form that a text fills in: a sum that can be paid, or
// what names a car; "" for neither.
func (p *Pages) described(r *http.Request, text string) (address string, err error) {
	const leastTarget = 1_000_000
	sum, err := money.ParseSaid(text)
	if err == nil && (sum.Currency == "" || sum.Currency == "TZS") && sum.Value.IntPart() >= leastTarget {
		return "/bid?" + url.Values{termTarget: {sum.Value.String()}}.Encode(), nil
	}
	year := yearPattern.FindString(text)
	cc := append(ccPattern.FindStringSubmatch(text), "", "")[1]
	var makes []string
	var query string
	err = p.inTurn(r.Context(), r, func(ctx context.Context) (err error) {
		makes, query, err = p.options.Names(ctx, ccPattern.ReplaceAllString(strings.Replace(text, year, " ", 1), " "))
		return err
	})
	if err != nil || len(makes) == 0 {
		return "", err
	}
	known := url.Values{"q": {query}, "year": {year}, "cc": {cc}}
	if len(makes) == 1 {
		known.Set("make", makes[0])
	}
	return frame.Address("/hand", known), nil
}

// inTurn searches in the turn of the visitor, which bills it.
func (p *Pages) inTurn(ctx context.Context, r *http.Request, search func(ctx context.Context) error) error {
	_, err := p.options.Compute(r, nil, func() ([]byte, error) { return nil, search(ctx) })
	return err
}

var (
	linkPattern = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"']+`)
	// barePattern is an address as people type it: www.cars.example/1, cars.example/stock/1.
	barePattern   = regexp.MustCompile(`(?i)\bwww\.[a-z0-9][^\s<>"']*|(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?/[^\s<>"']+`)
	schemePattern = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*:`)
	yearPattern   = regexp.MustCompile(`\b(?:19[5-9]|20[0-4])[0-9]\b`)
	ccPattern     = regexp.MustCompile(`(?i)\b([0-9]{3,4}) ?cc\b`)
)

// maxText bounds a text in which a link is looked for, in bytes.
const maxText = 8 << 10

// linksIn returns the links of a text, each once. Addresses without their scheme count when the
// text has no other.
func linksIn(text string) (links []string) {
	text = text[:min(len(text), maxText)]
	found := linkPattern.FindAllString(text, -1)
	if found == nil && !strings.Contains(text, "://") { // of a scheme that is not fetched
		for _, bare := range barePattern.FindAllString(text, -1) {
			found = append(found, "https://"+bare)
		}
	}
	for _, link := range found {
		link = strings.TrimRight(link, ".,;:!?)")
		if !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	return links
}

// linkIn returns the first link in a text; "" when it has none.
func linkIn(text string) string { return append(linksIn(text), "")[0] }

// typedLink returns the link in what was typed, or that when it has none: the API says what is wrong
// with it.
func typedLink(typed string) string { return cmp.Or(linkIn(typed), strings.TrimSpace(typed)) }

// isSheetLink reports whether a link leads to a picture or a PDF, and so to a sheet.
func isSheetLink(link string) bool {
	at, err := url.Parse(link)
	return err == nil && slices.Contains([]string{".jpg", ".jpeg", ".png", ".webp", ".pdf"}, strings.ToLower(path.Ext(at.Path)))
}

// homePage is the first page with what was typed, and why that is no answer.
func homePage(typed string, why message.Text) formPage {
	return formPage{name: "home", Filled: url.Values{"u": {typed}}, Problem: why}
}
