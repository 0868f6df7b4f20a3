package sites

import "testing"

func TestEverySiteIsAdaptedByName(t *testing.T) {
	names := map[string]bool{}
	for _, s := range All() {
		names[s.Name] = true
	}
	for _, a := range adapters {
		if !names[a.Name] {
			t.Errorf("no site %q", a.Name)
		}
	}
}

func TestFullSize(t *testing.T) {
	for link, want := range map[string]string{
		"https://8.ajes.com/imgs/abc&h=50":             "https://8.ajes.com/imgs/abc",
		"https://i.aleado.ru/image/auto/a/1.jpg?w=72":  "https://i.aleado.ru/image/auto/a/1.jpg",
		"http://p3.aleado.com/pic/?a=1&number=2&h=480": "http://p3.aleado.com/pic/?a=1&number=2",
		"http://p3.aleado.com/pic/?h=480&number=2":     "http://p3.aleado.com/pic/?number=2",
	} {
		if got := fullSize(link); got != want {
			t.Errorf("%q: %q", link, got)
		}
	}
}
