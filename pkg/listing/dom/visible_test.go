package dom

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// What is not shown, and what is struck out, by each of the ways in which pages say so.
func TestWhatAPageShows(t *testing.T) {
	t.Parallel()
	for markup, want := range map[string]string{
		`<p id=x>text</p>`:                                                                                       "shown",
		`<p id=x hidden>text</p>`:                                                                                "hidden",
		`<p id=x hidden="until-found">text</p>`:                                                                  "hidden",
		`<p id=x style="Display : NONE">text</p>`:                                                                "hidden",
		`<p id=x style="color:red;visibility:hidden">x</p>`:                                                      "hidden",
		`<p id=x style="backface-visibility:hidden">x</p>`:                                                       "shown",
		`<p id=x class="veil is-hidden">x</p>`:                                                                   "hidden",
		`<p id=x class="d-none">x</p>`:                                                                           "hidden",
		`<p id=x class="sr-only">x</p>`:                                                                          "hidden",
		`<p id=x class="visually-hidden">x</p>`:                                                                  "hidden",
		`<p id=x class="d-none d-md-block">x</p>`:                                                                "shown",
		`<p id=x class="hidden lg:flex">x</p>`:                                                                   "shown",
		`<p id=x class="hidden lg:hidden">x</p>`:                                                                 "hidden",
		`<p id=x class="is-hidden-mobile overflow-hidden">x`:                                                     "shown",
		`<dialog id=x>x</dialog>`:                                                                                "hidden",
		`<dialog id=x open>x</dialog>`:                                                                           "shown",
		`<style>.veil{display:none}</style><p id=x class="veil">x`:                                               "hidden",
		`<style>/* .veil{display:none} */</style><p id=x class="veil">x`:                                         "shown",
		`<style>#x , .y{color:red;display:none!important}</style><p id=x style="display:block">x`:                "hidden",
		`<style>#x{display:none}</style><p id=x style="display:block">x`:                                         "shown",
		`<style>.pane{display:none}.pane.active{display:block}</style><p id=x class="pane active">x`:             "shown",
		`<style>.pane.active{display:block}.pane{display:none}</style><p id=x class="pane active">x`:             "shown",
		`<style>.a{display:block}.b{display:none}</style><p id=x class="a b">x`:                                  "hidden",
		`<style>.b{display:none}.a{display:block}</style><p id=x class="a b">x`:                                  "shown",
		`<style>@media (max-width:600px){.veil{display:none}}</style><p id=x class="veil">x`:                     "shown",
		`<style>@import url(a.css);@media print{.a{color:red}}.veil{display:none}</style><p id=x class="veil">x`: "hidden",
		`<style>.box .veil{visibility:hidden}</style><div class=box><p id=x class="veil">x`:                      "hidden",
		`<style>.box .veil{visibility:hidden}</style><p id=x class="veil">x`:                                     "shown",
		`<style>.box{color:red;.veil{display:none}}</style><p id=x class="box">x`:                                "shown",
		`<style>.veil:hover{display:none}</style><p id=x class="veil">x`:                                         "shown",
		`<style>body{display:none}</style><p id=x>x`:                                                             "shown",
		`<style>.was-price{text-decoration:line-through}</style><p id=x class="was-price">x`:                     "struck",
		`<style>@media screen{.cut{text-decoration:line-through}}</style><p id=x class="cut">x`:                  "struck",
		`<s id=x>x</s>`: "struck",
		`<p id=x style="text-decoration: line-through">x`: "struck",
		`<style>.veil{display:none`:                       "",
		`<style>}{}}{.x{</style><p id=x class=x>x`:        "shown",
	} {
		root, err := html.Parse(strings.NewReader(markup))
		if err != nil {
			t.Fatal(err)
		}
		var sheets []*html.Node
		got := ""
		for n := range Elements(root) {
			if n.DataAtom == atom.Style {
				sheets = append(sheets, n)
			}
		}
		MarkVisibility(root, sheets)
		for n := range Elements(root) {
			switch {
			case Attr(n, "id") != "x":
			case !IsVisible(n):
				got = "hidden"
			case IsStruck(n):
				got = "struck"
			default:
				got = "shown"
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", markup, got, want)
		}
	}
}
