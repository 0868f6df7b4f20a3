// Package pack compresses results for Redis. They are JSON with the same names
// again and again, so they are compressed with a dictionary of what they have in
// common: an estimate takes about a sixth of its size.
package pack

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// The dictionaries. Data that was packed with one can only be unpacked with it, byte
// for byte: never change them. Add another under a new number, pack with that one,
// and use these for unpacking only. Each is a sample of results, the most frequent
// ones last.
//
//go:embed common.json
var common []byte // before the texts of all figures were in both languages

//go:embed results.json
var results []byte

const (
	commonID  = 1
	resultsID = 2        // packs
	maxSize   = 64 << 20 // bytes of unpacked data
)

// Both are safe for concurrent use.
var (
	packer   = packerOf(resultsID, results)
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderDictRaw(commonID, common), zstd.WithDecoderDictRaw(resultsID, results),
		zstd.WithDecoderMaxMemory(maxSize), zstd.WithDecoderConcurrency(0)))
)

func packerOf(id uint32, dictionary []byte) *zstd.Encoder {
	return must(zstd.NewWriter(nil, zstd.WithEncoderDictRaw(id, dictionary),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true), zstd.WithWindowSize(1<<17)))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic("pack: " + err.Error()) // the options above are constant
	}
	return value
}

// Pack returns data compressed.
func Pack(data []byte) []byte {
	// Data that does not shrink, such as an image, would be copied again and again
	// while a smaller buffer grows.
	return packer.EncodeAll(data, make([]byte, 0, packer.MaxEncodedSize(len(data))))
}

// magic begins everything that is packed, and no JSON.
const magic = "\x28\xb5\x2f\xfd"

// IsPacked reports whether data is what Pack returns, and not JSON.
func IsPacked(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) }

// Unpack returns the data that Pack compressed. It fails when the data is damaged
// or larger than 64 MB.
func Unpack(packed []byte) ([]byte, error) {
	data, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return data, nil
}
