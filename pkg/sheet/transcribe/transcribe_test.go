package transcribe

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/condition"
	"ushuru/pkg/fetch"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/sheet"
)

func TestOnlyAReadableSheetIsRead(t *testing.T) {
	sheet := func() *Classification {
		return &Classification{
			Kind: kindSheet, Anchors: []string{"評価点", "型式", "走行"}, IsAuctionSheet: true, FilledIn: true, MakesSense: true,
			Readability: "full",
		}
	}
	if err := sheet().refusal(); err != nil {
		t.Errorf("a sheet: %v", err)
	}
	for name, change := range map[string]func(*Classification){
		"no sheet":                 func(c *Classification) { c.IsAuctionSheet = false },
		"a photo":                  func(c *Classification) { c.Kind = "photo" },
		"one label":                func(c *Classification) { c.Anchors = []string{"走行"} },
		"one label twice":          func(c *Classification) { c.Anchors = []string{"走行", "走 行"} },
		"labels of another form":   func(c *Classification) { c.Anchors = []string{"Bluetooth", "Settings", "接続"} },
		"a blank form":             func(c *Classification) { c.FilledIn = false },
		"a fake":                   func(c *Classification) { c.MakesSense = false },
		"illegible":                func(c *Classification) { c.Readability = "none" },
		"of an unknown legibility": func(c *Classification) { c.Readability = "superb" },
		"an empty answer":          func(c *Classification) { *c = Classification{} },
	} {
		c := sheet()
		change(c)
		if c.refusal() == nil {
			t.Errorf("%s: the sheet is read", name)
		}
	}
}

// An answer may hold one more item than is used, so that the report says that more was cut.
func TestTheTableOfFieldsFitsTheLimits(t *testing.T) {
	var said []condition.Category
	for _, p := range Schema(ReadQuestion) {
		if want, ok := map[string]int{"notes": MaxNotes + 1, "map": MaxMarks + 1, "equipment": MaxEquipment + 1}[p.Name]; ok && p.MaxItems != want {
			t.Errorf("%s: got %d items, want %d", p.Name, p.MaxItems, want)
		}
		if p.Name == "said" {
			for _, subject := range p.Fields {
				said = append(said, condition.Category(subject.Name))
			}
		}
	}
	if !slices.Equal(said, sheet.Subjects) {
		t.Errorf("subjects: got %v, want %v", said, sheet.Subjects)
	}
}

// What a model that transcribes truly quotes of the labels is enough, with values,
// units or other words beside it.
func TestPlausibleQuotesAreASheet(t *testing.T) {
	t.Parallel()
	for _, quotes := range []string{
		"評価点 4.5|型式 DBA-M900A", "走行(km)|初度登録年月", "検査員報告|車名", "車名 ルーミー|グレード G-T", "出品番号 10234|会場 東京",
		"初度登録 H28年11月|車検 R8年11月", "総合評価 4|内装評価 B", "排気量 996|燃料 ガソリン", "シフト FAT|エアコン AAC", "車台番号 M900A-0012345|外装色 白",
		"検査員記入欄|注意事項欄", "◎注意事項(修復・不具合箇所および状態等)|◎検査員報告(USS使用欄)", "ｾｰﾙｽﾎﾟｲﾝﾄ|走行距離 62,000km", "乗車定員 5名|最大積載量|排気量 1500cc",
		"リサイクル預託金 9,870円|名義変更期限", "修復歴 有 無|外装 B", "評 価 点|走 行", "カラーNo 070|色替", "出品店 〇〇自動車|開催回 1523", "型式|年式",
	} {
		c := Classification{
			Kind: kindSheet, Anchors: strings.Split(quotes, "|"), IsAuctionSheet: true, FilledIn: true, MakesSense: true, Readability: "full",
		}
		if err := c.refusal(); err != nil {
			t.Errorf("%s: got %v, want a sheet", quotes, err)
		}
	}
}

// An image that is no sheet at the first look is looked at again; one that is none at
// either is refused, and who sends it again has it looked at again.
func TestAnImageIsRefusedAtTheSecondLookAlone(t *testing.T) {
	t.Parallel()
	const yes = `{"anchors":["評価点 4.5","型式 DBA-M900A"],"kind":"auction_sheet","is_auction_sheet":true,` +
		`"filled_in":true,"makes_sense":true,"readability":"full","unreadable_areas":[]}`
	no := strings.Replace(strings.Replace(yes, `"auction_sheet"`, `"photo"`, 1), "true", "false", 1)
	for name, test := range map[string]struct {
		answers []string
		code    string
	}{
		"a sheet":             {[]string{yes}, ""},
		"at the second look":  {[]string{no, yes}, ""},
		"at neither look":     {[]string{no, no}, "not_a_sheet"},
		"refused, sent again": {[]string{no, no, no, yes}, ""},
	} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			content, _ := json.Marshal(test.answers[min(asked, len(test.answers)-1)])
			asked++
			_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":` + string(content) + `}}],"usage":{"prompt_tokens":5}}`))
		}))
		model, err := ai.New(ai.Options{
			Endpoints: []ai.Endpoint{{BaseURL: server.URL, Model: "x"}}, Redis: redistest.Embedded(t).Client(), AnswerTTL: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		for range len(test.answers)/2 - 1 {
			_, _ = classify(t.Context(), model, nil) // sent for the first time
		}
		_, err = classify(t.Context(), model, nil)
		refused, isRefusal := err.(*fetch.Error) //nolint:errorlint // the refusal itself
		if got := isRefusal && refused.Code == test.code; err == nil && test.code != "" || err != nil && !got || asked != len(test.answers) {
			t.Errorf("%s: got %v after %d looks, want %q after %d", name, err, asked, test.code, len(test.answers))
		}
		model.Close()
		server.Close()
	}
}
