// Package sites knows the listing sites: their hosts and what each can give
// (sites.json), and for a site that needs it an [Adapter], in a file of its own,
// with the places of its values and the canonical form of its URLs.
package sites

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"ushuru/pkg/message"
)

// Info describes what a caller can expect of a listing site. Pages of other sites
// are read too, as far as their labels and schema.org data go.
type Info struct {
	Name     string   `json:"name"`
	Hosts    []string `json:"hosts"`          // without www. and other subdomains, which belong to the site too
	Gives    []string `json:"gives"`          // fields of a Car, by their JSON names, that its pages can hold
	Verified string   `json:"verified"`       // the evidence behind the adapter: one of the Verified values
	Note     string   `json:"note,omitempty"` // what else a caller should know
	// Text is Note in both languages.
	Text *message.Text `json:"text,omitempty"`
}

// The evidence behind the reading of a site, best first. Nothing was checked
// against a live site.
const (
	VerifiedPage     = "real page"       // a saved page of the kind that is read
	VerifiedScraper  = "scraper's notes" // the source of a public reader of the site
	VerifiedText     = "page text"       // the words of a page, without its structure
	VerifiedHostOnly = "host name only"  // only the host name is known
)

//go:embed sites.json
var siteTable []byte

var siteInfos = func() (infos []Info) {
	if err := json.Unmarshal(siteTable, &infos); err != nil {
		panic("listing: sites.json: " + err.Error())
	}
	for i, info := range infos { // of the file: the code of the note
		if info.Note != "" {
			text := message.Say("site/"+info.Note, nil)
			infos[i].Note, infos[i].Text = text.EN, &text
		}
	}
	return infos
}()

// All returns the known sites, in the order of their use by buyers in Tanzania.
func All() []Info {
	infos := slices.Clone(siteInfos)
	for i := range infos {
		infos[i].Hosts = slices.Clone(infos[i].Hosts)
		infos[i].Gives = slices.Clone(infos[i].Gives)
	}
	return infos
}

// NameOf returns the name of the site that a host belongs to, "" for an unknown
// host.
func NameOf(host string) string { return infoOf(host).Name }

// HostOf returns the host that a site is known by, of any host that belongs to it; "" for
// an unknown host.
func HostOf(host string) string {
	if info := infoOf(host); len(info.Hosts) > 0 {
		return info.Hosts[0]
	}
	return ""
}

func infoOf(host string) Info {
	for _, info := range siteInfos {
		for _, own := range info.Hosts {
			if host == own || strings.HasSuffix(host, "."+own) {
				return info
			}
		}
	}
	return Info{}
}
