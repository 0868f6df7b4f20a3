package redisx

import (
	_ "embed"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// results is the dictionary: a sample of results, the most frequent ones last. Results are
// JSON with the same names again and again: with it an estimate takes about a sixth of its
// size. Data that was packed with a dictionary can only be unpacked with it, byte for byte:
// never change it, but add another under a new number, and unpack with all.
// TestTheDictionaryHasTheShapeOfResults writes it, TestADictionaryNeverChanges holds it.
//
//go:embed results.json
var results []byte

// The dictionaries before, of November 2026: what was packed with them is unpacked still.
var (
	//go:embed results-2.json
	second []byte
	//go:embed results-3.json
	third []byte
)

const (
	resultsID   = 4
	maxUnpacked = 64 << 20 // bytes
)

// Both are safe for concurrent use.
var (
	packer = must(zstd.NewWriter(nil, zstd.WithEncoderDictRaw(resultsID, results),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true), zstd.WithWindowSize(1<<17)))
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderDictRaw(resultsID, results),
		zstd.WithDecoderDictRaw(2, second), zstd.WithDecoderDictRaw(3, third),
		zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderConcurrency(0)))
)

func must[T any](value T, err error) T {
	if err != nil {
		panic("redisx: pack: " + err.Error()) // the options above are constant
	}
	return value
}

// Pack returns data compressed.
func Pack(data []byte) []byte {
	// Data that does not shrink, such as an image, would be copied again and again
	// while a smaller buffer grows.
	return packer.EncodeAll(data, make([]byte, 0, packer.MaxEncodedSize(len(data))))
}

// Unpack returns the data that Pack compressed. It fails when the data is damaged
// or larger than 64 MB.
func Unpack(packed []byte) ([]byte, error) {
	data, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("redisx: unpack: %w", err)
	}
	return data, nil
}
