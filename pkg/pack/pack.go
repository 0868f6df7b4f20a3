// Package pack makes answers small for Redis. Answers are JSON with the same
// names over and over, so they are compressed with what they have in common
// known in advance: an estimate takes about a sixth of its size.
package pack

import (
	_ "embed"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// common is what answers have in common. What was packed with it can only be
// unpacked with it, byte for byte: never change it; add another under a new
// number, pack with that, and keep this for unpacking.
//
//go:embed common.json
var common []byte

const (
	commonID = 1
	mostSize = 64 << 20 // of anything unpacked
)

// Both may be used by many at once.
var (
	packer = must(zstd.NewWriter(nil, zstd.WithEncoderDictRaw(commonID, common),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true), zstd.WithWindowSize(1<<17)))
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderDictRaw(commonID, common),
		zstd.WithDecoderMaxMemory(mostSize), zstd.WithDecoderConcurrency(0)))
)

func must[T any](made T, err error) T {
	if err != nil {
		panic("pack: " + err.Error()) // the options are our own
	}
	return made
}

// Pack returns data in its small form.
func Pack(data []byte) []byte {
	// Room for what does not shrink, such as a picture: it would be copied over
	// and over as it grows.
	return packer.EncodeAll(data, make([]byte, 0, packer.MaxEncodedSize(len(data))))
}

// Unpack returns what was packed.
func Unpack(packed []byte) ([]byte, error) {
	data, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return data, nil
}
