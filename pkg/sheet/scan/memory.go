package scan

import "image"

// decodingMemory estimates from the header how many bytes the decoder of an image needs. The
// estimate is rather too high.
func decodingMemory(kind Kind, data []byte, config image.Config) int64 {
	pixels := int64(config.Width) * int64(config.Height)
	perPixel := int64(4)
	switch kind {
	case JPEG:
		perPixel = jpegBytesPerPixel(data)
	case PNG:
		perPixel = pngBytesPerPixel(data)
	case GIF:
		perPixel = 2 // interlaced: the rows once more, in their order
	case WebP:
		// Lossless: the pixels, and once more as they come out of the stream.
		perPixel = 8
	case PDF:
	}
	return pixels * perPixel
}

// pngBytesPerPixel returns the bytes of a decoded pixel: 4, or 8 with 16 bits a
// channel; half as much again for an interlaced image, whose last pass is kept.
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

// jpegBytesPerPixel returns the bytes of a decoded pixel: one for each channel, as if
// none were subsampled; 4 more for each coefficient of a progressive image; 4 more
// for RGB and CMYK, which are converted.
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
