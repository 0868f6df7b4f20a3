package table_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"ushuru/pkg/table"
)

var known = []string{"url", "reference", "make", "price", "車名", "型式", "年式"}

func open(data []byte, charset string) (*table.Reader, error) {
	file, err := table.Open(data, charset)
	if err != nil {
		return nil, err
	}
	return file.Next(table.Options{MaxRows: 100, IsColumn: func(name string) bool {
		return slices.Contains(known, strings.ToLower(name))
	}})
}

// read returns all rows of a table: "2 a|b; 3 c|d".
func read(data []byte, charset string) (rows string, r *table.Reader, err error) {
	if r, err = open(data, charset); err != nil {
		return "", nil, err
	}
	var all []string
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(all, "; "), r, nil
		}
		if err != nil {
			return "", r, err
		}
		text := fmt.Sprint(row.Number, " ", strings.Join(row.Cells, "|"))
		if row.Extra {
			text += " +"
		}
		all = append(all, text)
	}
}

func encoded(t *testing.T, as encoding.Encoding, text string) string {
	t.Helper()
	data, err := as.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestText(t *testing.T) {
	t.Parallel()
	japaneseTable := "車名,型式,年式\nプリウス,DAA-ZVW30,H24\nノート,DAA-HE12,H29\n"
	western := "url,make\nx,Citroën\ny,Škoda\nz,Élégance\n"
	for name, c := range map[string]struct{ table, want, about string }{
		"plain":                 {"url,make\nx,y\n", "2 x|y", "utf-8 ,"},
		"a mark and Windows":    {"\ufeffURL;Make\r\nx;y\r\n", "2 x|y", "utf-8 ;"},
		"old Macintosh":         {"url,make\rx,y\rz,\r", "2 x|y; 3 z|", "utf-8 ,"},
		"tabs":                  {"url\tmake\nx, y\tz\n", "2 x, y|z", "utf-8 \t"},
		"bars":                  {"url|make\nx|y\n", "2 x|y", "utf-8 |"},
		"sep=":                  {"sep=;\nurl;make,price\nx;y,z\n", "3 x|y,z", "utf-8 ;"},
		"one column":            {"url\nhttps://x/?a=1,2;3\n\"https://x/,4\"\n", `2 https://x/?a=1,2;3; 3 https://x/,4`, "utf-8 "},
		"quotes":                {"url,make\n\"a,\"\"b\"\"\", \"c\" \n", `2 a,"b"|c`, "utf-8 ,"},
		"a title above":         {"List of 26 November\n\nurl,make\nx,y\n", "4 x|y", "utf-8 ,"},
		"empty rows":            {"url,make\nx,y\n,\n\nz,\n,,,\n\n ,\n", "2 x|y; 5 z|", "utf-8 ,"},
		"more cells":            {"url,make\nx,y,z\na,b,,\n", "2 x|y +; 3 a|b", "utf-8 ,"},
		"fewer cells":           {"url,make\nx\n", "2 x|", "utf-8 ,"},
		"UTF-16 with a mark":    {encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "url\tmake\r\nx\tプリウス\r\n"), "2 x|プリウス", "utf-16le \t"},
		"UTF-16 of big numbers": {encoded(t, unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "url,make\nx,y\n"), "2 x|y", "utf-16be ,"},
		"UTF-16 without":        {encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "url,make\nx,y\n"), "2 x|y", "utf-16le ,"},
		"Shift JIS":             {encoded(t, japanese.ShiftJIS, japaneseTable), "2 プリウス|DAA-ZVW30|H24; 3 ノート|DAA-HE12|H29", "shift_jis ,"},
		"EUC-JP":                {encoded(t, japanese.EUCJP, japaneseTable), "2 プリウス|DAA-ZVW30|H24; 3 ノート|DAA-HE12|H29", "euc-jp ,"},
		"Windows-1252":          {encoded(t, charmap.Windows1252, western), "2 x|Citroën; 3 y|Škoda; 4 z|Élégance", "windows-1252 ,"},
	} {
		rows, r, err := read([]byte(c.table), "")
		if err != nil || rows != c.want || r.Charset+" "+r.Separator != c.about {
			t.Errorf("%s: %q, %v, %+v", name, rows, err, r)
		}
	}
}

func TestCharsetThatIsNamed(t *testing.T) {
	t.Parallel()
	for charset, want := range map[string]string{"Shift_JIS": "2 ﾉｰﾄ|", "windows-1252": "2 É°Ä|", "cp1252": "2 É°Ä|"} {
		if rows, _, err := read([]byte("url,make\n\xc9\xb0\xc4,\n"), charset); err != nil || rows != want {
			t.Errorf("%s: %q, %v", charset, rows, err)
		}
	}
	for _, charset := range []string{"utf-8", "klingon", "iso-2022-kr"} {
		if rows, _, err := read([]byte("url,make\n\xc9\xb0\xc4,\n"), charset); !errors.Is(err, table.ErrCharset) {
			t.Errorf("%s: %q, %v", charset, rows, err)
		}
	}
	if rows, _, err := read([]byte("\ufeffurl,make\né,\n"), "windows-1252"); err != nil || rows != "2 é|" {
		t.Errorf("a mark and another name: %q, %v", rows, err)
	}
}

// A quotation mark that is not closed, or stands in a text, refuses the whole table.
func TestStrayQuotes(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{
		"url,make\nx,\"A\ny,B\nz,C\n":                        2,
		"url,make\nx,A\ny,\"B\nb\"\nz,C\n":                   3, // a line break in a cell
		"url,make\nx,15\" wheels\n":                          2,
		"url,make\nx,\"A\"b\n":                               2,
		"url,\"make\nx,y\n":                                  1,
		"url,make\n" + strings.Repeat("x,y\n", 50) + "x,\"y": 52,
	} {
		_, _, err := read([]byte(text), "")
		stray, ok := errors.AsType[*table.LineError](err)
		if !ok || stray.Line != line || stray.Long {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRefusedTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data string
		want error
	}{
		"nothing":         {"", table.ErrHeader},
		"no header":       {"a,b\n1,2\n", table.ErrHeader},
		"a late header":   {strings.Repeat("a,b\n", 30) + "url,make\n", table.ErrHeader},
		"too many rows":   {"url,make\n" + strings.Repeat("x,y\n", 101), table.ErrTooManyRows},
		"an image":        {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", table.ErrNotTable},
		"an old workbook": {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", table.ErrOldExcel},
		"half a workbook": {string(workbook(t, nil)[:200]), table.ErrNotTable},
		"another archive": {string(archive(t, map[string]string{"a.txt": "x"})), table.ErrNotTable},
	} {
		if _, _, err := read([]byte(c.data), ""); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := read([]byte("url,make\nx,"+strings.Repeat("y", 70_000)+"\n"), "")
	if long, ok := errors.AsType[*table.LineError](err); !ok || !long.Long || long.Line != 2 {
		t.Errorf("a long line: %v", err)
	}
}

// workbook returns a workbook that Excel might have written.
func workbook(t *testing.T, change func(*excelize.File)) []byte {
	t.Helper()
	f := excelize.NewFile()
	day, err := f.NewStyle(&excelize.Style{CustomNumFmt: new("yyyy/m")})
	if err != nil {
		t.Fatal(err)
	}
	for cell, value := range map[string]any{
		"A1": "Auction of 26 November", "A3": "車名", "B3": "型式", "C3": "年式", "D3": "Price",
		"A4": "プリウス", "B4": "DAA-ZVW30", "C4": 41000, "D4": 350000.1,
		"A6": "ノート", "C6": "H29", "E6": "spare",
	} {
		if err := f.SetCellValue("Sheet1", cell, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		f.SetCellStyle("Sheet1", "C4", "C4", day),
		f.SetCellFormula("Sheet1", "D6", "=1+1"),
		f.SetCellRichText("Sheet1", "B6", []excelize.RichTextRun{{Text: "DAA-"}, {Text: "HE12"}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if change != nil {
		change(f)
	}
	var data bytes.Buffer
	if err := f.Write(&data); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func TestWorkbook(t *testing.T) {
	t.Parallel()
	want := "4 プリウス|DAA-ZVW30|2012-04-01|350000.1; 6 ノート|DAA-HE12|H29| +"
	rows, r, err := read(workbook(t, nil), "")
	if err != nil || rows != want || r.Sheet != "Sheet1" || r.HeaderRow != 3 || strings.Join(r.Header, "|") != "車名|型式|年式|Price" {
		t.Errorf("%q, %v, %+v", rows, err, r)
	}
	behind := workbook(t, func(f *excelize.File) { // the list is on the second visible sheet
		for _, err := range []error{
			f.SetSheetName("Sheet1", "Lots"), second(f.NewSheet("Cover")), second(f.NewSheet("Hidden")),
			f.MoveSheet("Cover", "Lots"), f.MoveSheet("Hidden", "Cover"),
			f.SetCellValue("Hidden", "A1", "url"), f.SetCellValue("Cover", "A1", "Dear customer"),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		f.SetActiveSheet(1)
		if err := f.SetSheetVisible("Hidden", false); err != nil {
			t.Fatal(err)
		}
	})
	if rows, r, err := read(behind, ""); err != nil || rows != want || r.Sheet != "Lots" {
		t.Errorf("%q, %v, %+v", rows, err, r)
	}
	date1904 := workbook(t, func(f *excelize.File) {
		if err := f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: new(true)}); err != nil {
			t.Fatal(err)
		}
	})
	if rows, _, err := read(date1904, ""); err != nil || !strings.Contains(rows, "|2016-04-02|") {
		t.Errorf("%q, %v", rows, err)
	}
}

func second[T any](_ T, err error) error { return err }

// How a word is read stands beside it and is no part of it.
func TestLinkedCells(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	t.Cleanup(func() { _ = book.Close() })
	for cell, text := range map[string]string{"A1": "url", "B1": "make", "A2": "open", "B2": "Toyota", "A3": "open", "A4": "inside", "A5": "mail", "A6": ""} {
		if err := book.SetCellStr("Sheet1", cell, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range [][3]string{
		{"A2", "https://cars.example/2?a=1&b=2", "External"},
		{"A4", "Sheet1!A1", "Location"},
		{"A5", "mailto:x@cars.example", "External"},
		{"A6", "https://cars.example/6", "External"},
	} {
		if err := book.SetCellHyperLink("Sheet1", link[0], link[1], link[2]); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.SetCellFormula("Sheet1", "A3", `HYPERLINK("https://cars.example/3","open")`); err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := book.Write(&data); err != nil {
		t.Fatal(err)
	}
	r, err := open(data.Bytes(), "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[int]string{}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[row.Number] = row.Links[0]
	}
	want := map[int]string{2: "https://cars.example/2?a=1&b=2", 3: "https://cars.example/3", 4: "", 5: ""}
	if !maps.Equal(got, want) {
		t.Errorf("links: got %v, want %v", got, want)
	}
}

func TestReadingsAreLeftOut(t *testing.T) {
	t.Parallel()
	data := archive(t, parts(
		`<sst><si><t>車名</t><rPh sb="0" eb="2"><t>シャメイ</t></rPh></si><si><t>型式</t></si><si><r><t>A</t></r><r><t>B</t></r></si></sst>`,
		`<x:row r="1"><x:c t="s"><x:v>0</x:v></x:c><x:c t="s"><x:v>1</x:v></x:c></x:row>`+
			`<row r="7"><c r="B7" t="s"><v>2</v></c><c t="b"><v>1</v></c><c r="ZZZZZZ7"><v>9</v></c></row><row><c t="inlineStr"><is><t>x</t></is></c></row>`))
	if rows, _, err := read(data, ""); err != nil || rows != "7 |AB +; 8 x|" {
		t.Errorf("%q, %v", rows, err)
	}
}

// What a workbook links to outside of itself is not read, even where it has a part of that name.
func TestTargetsOutsideOfAWorkbookAreNotRead(t *testing.T) {
	t.Parallel()
	const links = "xl/_rels/workbook.xml.rels"
	for name, c := range map[string]struct{ link, mode, want string }{
		"inside, as it says": {`Id="b"`, "Internal", "2 x"},
		"a sheet outside":    {`Id="b"`, "External", ""},
		"texts outside":      {`Id="c"`, "External", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := parts(`<sst><si><t>url</t></si><si><t>x</t></si></sst>`, `<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row>`)
			all[links] = strings.Replace(all[links], c.link, c.link+` TargetMode="`+c.mode+`"`, 1)
			if rows, _, err := read(archive(t, all), ""); rows != c.want {
				t.Errorf("got %q, %v, want %q", rows, err, c.want)
			}
		})
	}
}

// parts are those of a workbook with shared texts and the rows of a sheet.
func parts(texts, rows string) map[string]string {
	const namespace = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	return map[string]string{
		"_rels/.rels":     `<Relationships><Relationship Id="a" Type="` + namespace + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": `<workbook xmlns:r="` + namespace + `"><sheets><sheet name="Lots" sheetId="1" r:id="b"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="b" Type="` + namespace + `/worksheet" Target="sheet.xml"/>` +
			`<Relationship Id="c" Type="` + namespace + `/sharedStrings" Target="/xl/texts.xml"/></Relationships>`,
		"xl/texts.xml": texts,
		"xl/sheet.xml": `<worksheet xmlns:x="y"><sheetData>` + rows + `</sheetData></worksheet>`,
	}
}

func archive(t *testing.T, parts map[string]string) []byte {
	t.Helper()
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for name, text := range parts {
		part, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// A small file that unpacks to a large one is refused before it takes much memory.
func TestWorkbooksThatGrow(t *testing.T) {
	header := `<row><c t="inlineStr"><is><t>url</t></is></c></row>`
	large := strings.Repeat("x", 60<<20)
	for name, data := range map[string][]byte{
		"shared texts":    archive(t, parts("<sst>"+strings.Repeat("<si><t>x</t></si>", 4<<20)+"</sst>", header)),
		"many empty ones": archive(t, parts("<sst>"+strings.Repeat("<si/>", 8<<20)+"</sst>", header)),
		"one long text":   archive(t, parts("<sst><si><t>"+large+"</t></si></sst>", header)),
		"one long cell":   archive(t, parts("<sst/>", header+`<row><c t="inlineStr"><is><t>`+large[:20<<20]+`</t></is></c></row>`)),
		"a long tag":      archive(t, parts("<sst/>", header+`<row a="`+large[:20<<20]+`"/>`)),
		"one long row":    archive(t, parts("<sst/>", header+`<row>`+strings.Repeat(`<c><v>1</v></c>`, 1<<20)+`</row>`)),
		"a broken row":    archive(t, parts("<sst/>", header+`<row><c>`)),
		"entities":        archive(t, parts(`<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa">]><sst><si><t>&a;</t></si></sst>`, header)),
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := read(data, "")
			runtime.ReadMemStats(&after)
			if !errors.Is(err, table.ErrTooLarge) && !errors.Is(err, table.ErrNotTable) {
				t.Errorf("%v", err)
			}
			if grown := after.HeapSys - min(before.HeapSys, after.HeapSys); grown > 100<<20 {
				t.Errorf("took %d MB", grown>>20)
			}
		})
	}
}
