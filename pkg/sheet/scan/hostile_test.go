package scan

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
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
	chunk := func(name string, content []byte) []byte {
		body := append([]byte(name), content...)
		return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(content))), body,
			binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
	}
	var packed bytes.Buffer
	writer := zlib.NewWriter(&packed)
	_, _ = writer.Write(make([]byte, min(uint64(height)*(uint64(width)+1), 60<<20)))
	_ = writer.Close()
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return slices.Concat([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, 8, 0, 0, 0, interlaced)),
		chunk("IDAT", packed.Bytes()), chunk("IEND", nil))
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
		"a lossless WebP of 16383 by 16383": slices.Concat([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f"),
			[]byte{0xfe, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
	}
}

// TestHostileFilesEnd in about the time that a picture may take, and are not tried again.
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
			if failure, ok := errors.AsType[*fetch.Error](err); ok && failure.Retryable || err != nil && !ok {
				t.Errorf("got %v, want a result or a refusal for good", err)
			}
			if took > maxPicture+2*time.Second {
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
