package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestStreamsAreBoundedForEachVisitorAndNetwork(t *testing.T) {
	t.Parallel()
	pages, _ := served(t, refusing(http.StatusNotFound, `{}`))
	open := func(cookie string) func() {
		r := httptest.NewRequest(http.MethodGet, "/e/x/events", http.NoBody)
		if cookie != "" {
			r.Header.Set("Cookie", cookie)
		}
		release, err := pages.openStream(r)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	ann := cookieOf(t, pages, "ann", 0) // the page of the work is opened at once
	var last func()
	for range maxVisitorStreams {
		if last = open(ann); last == nil {
			t.Fatal("a stream that a visitor may have was refused")
		}
	}
	if open(ann) != nil {
		t.Error("a visitor has one stream too many")
	}
	last()
	if last = open(ann); last == nil {
		t.Error("a closed stream counts")
	}
	for n := range maxNetworkStreams - maxVisitorStreams {
		cookie := ""
		if n%2 == 0 {
			cookie = cookieOf(t, pages, fmt.Sprint("visitor", n), time.Minute)
		}
		if open(cookie) == nil {
			t.Fatalf("stream %d of a network was refused", n)
		}
	}
	if open("") != nil {
		t.Error("a network has one stream too many")
	}
	last()
	if open(cookieOf(t, pages, "ben", 0)) == nil {
		t.Error("a closed stream counts for the network")
	}
}
