package listing

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/listing/sites"
	"ushuru/pkg/vehicle"
)

func TestSitesSayWhatTheyGiveInTheWordsOfACar(t *testing.T) {
	known := map[string]bool{}
	for field := range reflect.TypeFor[vehicle.Car]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[name] = true
	}
	grades := map[string]bool{sites.VerifiedPage: true, sites.VerifiedScraper: true, sites.VerifiedText: true, sites.VerifiedHostOnly: true}
	names, hosts := map[string]bool{}, map[string]bool{}
	for _, s := range sites.All() {
		if s.Name == "" || names[s.Name] || !grades[s.Verified] || len(s.Hosts) == 0 || s.Gives == nil {
			t.Errorf("%+v", s)
		}
		names[s.Name] = true
		for _, h := range s.Hosts {
			if hosts[h] || strings.HasPrefix(h, "www.") || sites.NameOf("www."+h) != s.Name || sites.NameOf("x"+h) != "" {
				t.Errorf("%s: host %s", s.Name, h)
			}
			hosts[h] = true
		}
		for _, field := range s.Gives {
			if !known[field] {
				t.Errorf("%s gives %q, which no car has", s.Name, field)
			}
		}
	}
}

func TestSitesAreNotShared(t *testing.T) {
	sites.All()[0].Hosts[0] = "changed.example.com"
	if got := sites.All()[0].Hosts[0]; got != "beforward.jp" {
		t.Errorf("host %q", got)
	}
}

func TestSitesAsJSON(t *testing.T) {
	all := sites.All()
	data, err := json.Marshal(all[slices.IndexFunc(all, func(s sites.Info) bool { return s.Name == "Enhance Auto" })])
	want := `{"name":"Enhance Auto","hosts":["enhanceauto.com"],"gives":[],"verified":"host name only","note":"Nothing is known of its pages; labels and schema.org data are read as on any site.",` +
		`"text":{"en":"Nothing is known of its pages; labels and schema.org data are read as on any site.",` +
		`"sw":"Kurasa zake hazijulikani; lebo na data ya schema.org husomwa kama kwenye tovuti yoyote.","draft":true}}`
	if err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
}
