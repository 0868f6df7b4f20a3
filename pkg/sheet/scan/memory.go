package scan

import "image"

// memoryFor estimates, from the header and rather too high, how many bytes the
// decoder and all that follows need for a picture.
func memoryFor(kind Kind, data []byte, config image.Config) int64 {
	pixels := int64(config.Width) * int64(config.Height)
	perPixel := int64(4)
	switch kind {
	case JPEG:
		perPixel = jpegBytesPerPixel(data)
	case PNG:
		perPixel = pngBytesPerPixel(data)
	case GIF:
		perPixel = 1
	case WebP:
		// Lossless: the pixels, and once more as they come out of the stream.
		perPixel = 8
	case PDF:
	}
	const afterwards = 3 * 4 * MaxSide * MaxSide // shrunk, turned, compressed
	return pixels*perPixel + afterwards
}

// pngBytesPerPixel: the decoder makes 4 bytes of every pixel, or 8 of one with
// 16 bits a channel; of an interlaced picture it keeps the last pass beside.
func pngBytesPerPixel(data []byte) int64 {
	const depth, interlace = 24, 28 // PNG, 11.2.2, behind signature, length and name
	perPixel := int64(4)
	if len(data) > depth && data[depth] == 16 {
		perPixel = 8
	}
	if len(data) > interlace && data[interlace] != 0 {
		perPixel += perPixel / 2
	}
	return perPixel
}

// jpegBytesPerPixel: a byte for every channel, taken as not subsampled, and of
// a progressive picture also 4 bytes for every coefficient. RGB and CMYK are
// converted, which takes 4 bytes more.
func jpegBytesPerPixel(data []byte) int64 {
	frame := readJPEG(data)
	perPixel := int64(frame.channels)
	if frame.progressive {
		perPixel *= 5
	}
	if frame.channels == 4 || frame.rgb {
		perPixel += 4
	}
	return perPixel
}
