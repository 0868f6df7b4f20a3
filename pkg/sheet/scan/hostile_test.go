package scan

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
)

// headerPNG is a PNG of a size, of which one colour and then nothing follows.
func headerPNG(width, height uint32, interlaced byte) []byte {
	var packed bytes.Buffer
	writer := zlib.NewWriter(&packed)
	_, _ = writer.Write(make([]byte, min(uint64(height)*(uint64(width)+1), 60<<20)))
	_ = writer.Close()
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return slices.Concat([]byte("\x89PNG\r\n\x1a\n"), chunkPNG("IHDR", append(header, 8, 0, 0, 0, interlaced)),
		chunkPNG("IDAT", packed.Bytes()), chunkPNG("IEND", nil))
}

// chunkPNG is a chunk of a PNG.
func chunkPNG(name string, content []byte) []byte {
	body := append([]byte(name), content...)
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(content))), body,
		binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
}

// jpegWith is a JPEG of a size with bytes between its header and its only scan.
func jpegWith(t *testing.T, between ...byte) []byte {
	t.Helper()
	data := asJPEG(t, drawn(600, 400))
	at := bytes.Index(data, []byte{0xff, 0xda})
	return slices.Concat(data[:at], between, data[at:])
}

// hostileFiles are files that are made to cost more than they should.
func hostileFiles(t *testing.T) map[string][]byte {
	t.Helper()
	var animation bytes.Buffer
	page := image.NewPaletted(image.Rect(0, 0, 7000, 7000), color.Palette{color.White, color.Black})
	if err := gif.Encode(&animation, page, nil); err != nil {
		t.Fatal(err)
	}
	huge := asJPEG(t, drawn(600, 400))
	at := bytes.Index(huge, []byte{0xff, 0xc0})
	copy(huge[at+5:], []byte{0xff, 0xff, 0xff, 0xff})
	arithmetic := asJPEG(t, drawn(600, 400))
	arithmetic[at+1] = 0xc9
	table := slices.Concat([]byte{0xff, 0xc4, 0, 2 + 17 + 2, 0x10}, []byte{1, 1}, make([]byte, 14), []byte{0xe0, 0})
	const fill = 11 << 20
	return map[string][]byte{
		"20,000 scans":              scansJPEG(20_000),
		"64 scans":                  scansJPEG(64),
		"marks to restart at":       jpegWith(t, bytes.Repeat([]byte{0xff, 0xd3}, fill/2)...),
		"fill bytes":                jpegWith(t, bytes.Repeat([]byte{0xff}, fill)...),
		"bytes between segments":    jpegWith(t, bytes.Repeat([]byte{0xff, 0}, fill/2)...),
		"Huffman tables":            jpegWith(t, bytes.Repeat(table, fill/len(table))...),
		"empty comments":            jpegWith(t, bytes.Repeat([]byte{0xff, 0xfe, 0, 2}, fill/4)...),
		"arithmetic coding":         arithmetic,
		"a JPEG of 65535 by 65535":  huge,
		"a PNG of one colour":       headerPNG(7200, 7200, 0),
		"a PNG of 30000 by 30000":   headerPNG(30_000, 30_000, 0),
		"an interlaced PNG":         headerPNG(7200, 7200, 1),
		"a PNG that ends too early": headerPNG(7200, 7220, 0),
		"a GIF of one colour":       animation.Bytes(),
		"a PNG with a text of 1 GB": slices.Concat(headerPNG(600, 400, 0)[:33], chunkPNG("zTXt", append([]byte("a\x00\x00"), bomb("\x00", 1<<30, 1)...)), headerPNG(600, 400, 0)[33:]),
		"a GIF of 100,000 frames":   slices.Concat(animation.Bytes()[:len(animation.Bytes())-1], bytes.Repeat([]byte("\x21\xf9\x04\x00\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"), 100_000), []byte{0x3b}),
		"a WebP of 16383 by 16383":  slices.Concat([]byte("RIFF\x1e\x00\x00\x00WEBPVP8 \x12\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\xff\x3f\xff\x3f"), make([]byte, 8)),
		"a lossless WebP of 16383 by 16383": slices.Concat([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f"),
			[]byte{0xfe, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
	}
}

// bomb is what n times some text becomes when it is compressed, once or several times.
func bomb(text string, n, times int) string {
	var packed bytes.Buffer
	writer := zlib.NewWriter(&packed)
	for part := strings.Repeat(text, 1<<10); n > 0; n -= 1 << 10 {
		_, _ = writer.Write([]byte(part))
	}
	_ = writer.Close()
	if times > 1 {
		return bomb(packed.String(), 1<<10, times-1)
	}
	return packed.String()
}

// hostilePDFs are documents that are made to cost more than they should, or to have no end.
func hostilePDFs() map[string][]byte {
	const head = "<</Type/Catalog/Pages 2 0 R>>"
	const kids = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
	page := func(more, content string, objects ...string) []byte {
		return onePDF("", append([]string{head, kids, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R" + more + ">>", content}, objects...)...)
	}
	picture := func(dictionary, data string) []byte {
		return page("/Resources<</XObject<</I 5 0 R>>>>", stream("", "595 0 0 842 0 0 cm /I Do"),
			stream("/Type/XObject/Subtype/Image/BitsPerComponent 8/ColorSpace/DeviceGray"+dictionary, data))
	}
	sized := func(box string) []byte {
		return onePDF("", head, kids, "<</Type/Page/Parent 2 0 R/MediaBox["+box+"]/Contents 4 0 R>>", stream("", "0 0 9 9 re f"))
	}
	deep := []string{head}
	for i := range 20_000 {
		deep = append(deep, fmt.Sprintf("<</Type/Pages/Kids[%d 0 R]/Count 1/Parent %d 0 R>>", i+3, i+1))
	}
	many := pagesPDF(595, 842, repeated("", 20_000)...)
	segment := func(number, kind byte, data ...byte) string { // of JBIG2
		return string(binary.BigEndian.AppendUint32([]byte{0, 0, 0, number, kind, 0, 1}, uint32(len(data)))) + string(data)
	}
	jbig2 := segment(0, 48, slices.Concat(bytes.Repeat([]byte{0, 0, 0xff, 0xff}, 2), make([]byte, 8), []byte{0, 0, 0})...) +
		segment(1, 38, slices.Concat(bytes.Repeat([]byte{0, 0, 0xff, 0xff}, 2), make([]byte, 8), []byte{0, 0, 3, 0xff, 0xfd, 0xff, 2, 0xfe, 0xfe, 0xfe, 1, 2, 3})...)
	jpx := slices.Concat([]byte{0xff, 0x4f, 0xff, 0x51, 0, 41, 0, 0}, bytes.Repeat([]byte{0, 0, 0xff, 0xff}, 2), make([]byte, 8),
		[]byte{0, 0, 0, 1, 0, 0, 0, 1}, make([]byte, 8), []byte{0, 1, 7, 1, 1},
		[]byte{0xff, 0x52, 0, 12, 0, 0, 0, 1, 0, 5, 4, 4, 0, 1, 0xff, 0x5c, 0, 19, 0x40}, make([]byte, 16),
		[]byte{0xff, 0x90, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0x93, 0xff, 0xd9})
	endless := onePDF("/Prev 9", head, kids, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>")
	at := bytes.LastIndex(endless, []byte("xref\n0"))
	endless = bytes.Replace(endless, []byte("/Prev 9"), fmt.Appendf(nil, "/Prev %d", at), 1)
	return map[string][]byte{
		"a page tree that has itself":           onePDF("", head, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"),
		"two page trees that have each other":   onePDF("", head, "<</Type/Pages/Kids[3 0 R]/Count 3>>", "<</Type/Pages/Kids[2 0 R]/Count 3>>"),
		"a page tree of 20,000 levels":          onePDF("", deep...),
		"a page tree that says a billion pages": onePDF("", head, "<</Type/Pages/Kids[3 0 R]/Count 1000000000>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>"),
		"20,000 pages":                          many,
		"a page of 10^9 points":                 sized("0 0 1000000000 1000000000"),
		"a page of 10^38 points":                sized("0 0 1" + strings.Repeat("0", 38) + " 1" + strings.Repeat("0", 38)),
		"a page of no size":                     sized("0 0 0 0"),
		"a page whose box is turned around":     sized("595 842 0 0"),
		"an object stream of zeros":             page("", stream("/Type/ObjStm/N 1000000/First 10/Filter/FlateDecode", bomb("\x00", 1<<30, 1))),
		"a content stream of 1 GB":              page("", stream("/Filter/FlateDecode", bomb("q Q ", 1<<28, 1))),
		"a content stream packed three times":   page("", stream("/Filter[/FlateDecode/FlateDecode/FlateDecode]", bomb("q Q ", 1<<20, 3))),
		"a million states that are not left":    page("", stream("/Filter/FlateDecode", bomb("q ", 1<<22, 1))),
		"a picture of JBIG2 of 65535 by 65535":  picture("/Width 65535/Height 65535/Filter/JBIG2Decode", jbig2),
		"a picture of JPX of 65535 by 65535":    picture("/Width 65535/Height 65535/Filter/JPXDecode", string(jpx)),
		"a picture of zeros":                    picture("/Width 60000/Height 60000/Filter/FlateDecode", bomb("\x00", 1<<28, 1)),
		"a form that draws itself":              page("/Resources<</XObject<</N 5 0 R>>>>", stream("", "/N Do"), stream("/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</N 5 0 R>>>>", "/N Do /N Do")),
		"a pattern of tiny tiles": page("/Resources<</Pattern<</P 5 0 R>>>>", stream("", "/Pattern cs /P scn 0 0 595 842 re f"),
			stream("/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep 0.0001/YStep 0.0001/Resources<<>>", "0 0 1 1 re f")),
		"a glyph that draws itself": page("/Resources<</Font<</F 5 0 R>>>>", stream("", "BT /F 12 Tf (aaaa) Tj ET"),
			"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/FirstChar 97/LastChar 97/Widths[9]/Encoding<</Differences[97/a]>>/CharProcs<</a 6 0 R>>/Resources<</Font<</F 5 0 R>>>>>>",
			stream("", "9 0 d0 BT /F 12 Tf (aaaaaaaa) Tj ET")),
		"a mask that has itself": page("/Resources<</ExtGState<</G 5 0 R>>>>", stream("", "/G gs 0 0 595 842 re f"),
			"<</Type/ExtGState/SMask<</S/Luminosity/G 6 0 R>>>>",
			stream("/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Group<</S/Transparency>>/Resources<</ExtGState<</G 5 0 R>>>>", "/G gs 0 0 595 842 re f")),
		"arrays in arrays":                  page("/Deep "+strings.Repeat("[", 1<<20), stream("", "0 0 9 9 re f")),
		"a length that is its own stream":   page("", "<</Length 4 0 R>>\nstream\n0 0 9 9 re f\nendstream"),
		"a table of objects before itself":  endless,
		"a dashed line of a billion dashes": page("", stream("", "[0.00001] 0 d 0 0 m 595 842 l S")),
		"a function without an end":         endlessPDF(),
	}
}

// TestHostileDocumentsEnd as TestHostileFilesEnd says of pictures.
func TestHostileDocumentsEnd(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	loader := pdfLoader(t)
	for name, data := range hostilePDFs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, err := loader.Load(pace.WithOwner(t.Context(), name), data)
			t.Logf("%s: %d KB, %v", time.Since(began), len(data)>>10, err)
			wantEnded(t, err)
			if name == "a function without an end" {
				wantRefused(t, err, Timeout)
			}
		})
	}
}

// wantEnded wants a result, or a refusal for good.
func wantEnded(t *testing.T, err error) {
	t.Helper()
	if failure, ok := errors.AsType[*fetch.Error](err); ok && failure.Retryable || err != nil && !ok {
		t.Errorf("got %v, want a result or a refusal for good", err)
	}
}

// TestTheProcessorCountsAndNotTheTime: who waits for it is not to blame; who has used it is.
func TestTheProcessorCountsAndNotTheTime(t *testing.T) {
	t.Parallel()
	ctx, stop := withProcessor(t.Context(), 20*time.Millisecond)
	defer stop()
	select {
	case <-time.After(200 * time.Millisecond):
	case <-ctx.Done():
		t.Fatalf("waiting counts: %v", context.Cause(ctx))
	}
	for n := uint64(0); ctx.Err() == nil; n++ {
		runtime.KeepAlive(n)
	}
	wantRefused(t, interrupted(ctx), Timeout)
}

// TestHostileFilesEnd soon, also on a busy machine, and are not tried again.
func TestHostileFilesEnd(t *testing.T) {
	loader, err := NewLoader(Options{Timeout: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range hostileFiles(t) {
		t.Run(name, func(t *testing.T) {
			if name == "64 scans" || strings.HasSuffix(name, "of one colour") || strings.HasSuffix(name, "too early") {
				testenv.Long(t) // they take a second and more
			}
			began := time.Now()
			_, err := loader.Load(t.Context(), data)
			took := time.Since(began)
			t.Logf("%s: %d KB, %v", took, len(data)>>10, err)
			wantEnded(t, err)
			if took > 10*maxPicture {
				t.Errorf("it took %s", took)
			}
		})
	}
	_, err = loader.Load(t.Context(), scansJPEG(20_000))
	wantRefused(t, err, Timeout)
}

// TestAFileThatTakesTooLongIsRefusedForGood, not one that waited for others.
func TestAFileThatTakesTooLongIsRefusedForGood(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, errTooLong)
	defer cancel()
	err := interrupted(ctx)
	wantRefused(t, err, Timeout)
	if failure, ok := errors.AsType[*fetch.Error](err); !ok || failure.Retryable {
		t.Errorf("got %v, want a refusal for good", err)
	}
}

// TestHostileFilesOfOneKeyDoNotStopOthers: twelve at once, of one key, while another has its
// sheet loaded again and again.
func TestHostileFilesOfOneKeyDoNotStopOthers(t *testing.T) {
	testenv.Long(t)
	loader, err := NewLoader(Options{})
	if err != nil {
		t.Fatal(err)
	}
	sheet := asJPEG(t, drawn(2000, 1500))
	load := func() time.Duration {
		began := time.Now()
		if _, err := loader.Load(pace.WithOwner(t.Context(), "victim"), sheet); err != nil {
			t.Errorf("the sheet of another: %v", err)
		}
		return time.Since(began)
	}
	const times = 20
	measure := func() (all []time.Duration) {
		for range times {
			all = append(all, load())
		}
		slices.Sort(all)
		return all
	}
	before := measure()
	ctx, stop := context.WithCancel(pace.WithOwner(t.Context(), "attacker"))
	var attack sync.WaitGroup
	files := hostileFiles(t)
	for range 12 {
		attack.Go(func() {
			for ctx.Err() == nil {
				for _, file := range files {
					_, _ = loader.Load(ctx, file)
				}
			}
		})
	}
	during := measure()
	stop()
	attack.Wait()
	t.Logf("p95 before %s, during %s", before[times*95/100], during[times*95/100])
	if during[times*95/100] > 2*before[times*95/100]+2*time.Second {
		t.Errorf("p95 before %s, during %s", before[times*95/100], during[times*95/100])
	}
}
