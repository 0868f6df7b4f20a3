package scan

import (
	"bytes"
	"encoding/binary"
)

// orientation returns the EXIF orientation of an image, 1 to 8; 1 when it has none
// or an invalid one.
func orientation(kind Kind, data []byte) int {
	switch kind {
	case JPEG:
		return exifOrientation(readJPEG(data).exif)
	case PNG:
		return exifOrientation(pngChunk(data, "eXIf"))
	case WebP:
		return exifOrientation(webpChunk(data, "EXIF"))
	case GIF, PDF:
	}
	return 1
}

// jpegHeader is what is read of a JPEG before it is decoded.
type jpegHeader struct {
	channels    int
	progressive bool
	rgb         bool   // it may hold RGB instead of luminance and colour
	exif        []byte // a TIFF structure; nil for none
}

// readJPEG walks over the segments before the first scan (ITU-T T.81, B.1.1). The decoder
// skips what does not belong between them: then the walk ends, and the worst is assumed.
func readJPEG(data []byte) jpegHeader {
	header := jpegHeader{channels: 4, progressive: true}
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker := data[at+1]
		if marker == 0xff { // fill
			at++
			continue
		}
		if marker == 0xda {
			return header
		}
		length := int(binary.BigEndian.Uint16(data[at+2:]))
		if hasNoLength(marker) || length < 2 || at+2+length > len(data) {
			break
		}
		header.read(marker, data[at+4:at+2+length])
		at += 2 + length
	}
	return jpegHeader{channels: 4, progressive: true, exif: header.exif}
}

// countScans returns how many scans of a JPEG its decoder would find at most. Like the decoder it
// skips what stands between two segments, such as the bits of a scan and marks to restart at.
func countScans(data []byte) (scans int) {
	for at := 2; ; {
		next := bytes.IndexByte(data[min(at, len(data)):], 0xff)
		if next < 0 || at+next+1 >= len(data) {
			return scans
		}
		at += next + 1
		switch marker := data[at]; {
		case marker == 0xff: // fill
		case marker == 0xd9: // the end
			return scans
		case marker == 0 || marker >= 0xd0 && marker <= 0xd7:
			at++
		case at+3 > len(data):
			return scans
		default:
			if marker == 0xda {
				scans++
			}
			at += 1 + max(int(binary.BigEndian.Uint16(data[at+1:])), 2)
		}
	}
}

// hasNoLength reports whether a marker stands alone, or is none.
func hasNoLength(marker byte) bool { return marker < 0xc0 || marker >= 0xd0 && marker <= 0xd9 }

// read takes from one segment what is wanted.
func (h *jpegHeader) read(marker byte, segment []byte) {
	switch {
	case marker == 0xe1 && h.exif == nil:
		if tiff, found := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); found {
			h.exif = tiff
		}
	case marker == 0xee && len(segment) >= 12 && string(segment[:5]) == "Adobe":
		h.rgb = h.rgb || segment[11] == 0 // its transform
	case marker >= 0xc0 && marker <= 0xc2 && len(segment) >= 6:
		h.progressive = marker == 0xc2
		h.channels = min(max(int(segment[5]), 1), 4)
		// Three bytes for every channel, of which the first is its name.
		if names := segment[6:]; len(names) >= 9 && string([]byte{names[0], names[3], names[6]}) == "RGB" {
			h.rgb = true
		}
	}
}

// pngChunk returns a chunk that stands before the picture (PNG, 5.3), nil for
// none.
func pngChunk(data []byte, name string) []byte {
	for at := 8; at+12 <= len(data); {
		length := int64(binary.BigEndian.Uint32(data[at:]))
		found := string(data[at+4 : at+8])
		if int64(at)+12+length > int64(len(data)) || found == "IDAT" {
			return nil
		}
		if found == name {
			return data[at+8 : at+8+int(length)]
		}
		at += 12 + int(length)
	}
	return nil
}

// webpChunk returns a chunk of the RIFF container, nil for none.
func webpChunk(data []byte, name string) []byte {
	for at := 12; at+8 <= len(data); {
		length := int64(binary.LittleEndian.Uint32(data[at+4:]))
		if int64(at)+8+length > int64(len(data)) {
			return nil
		}
		if string(data[at:at+4]) == name {
			return data[at+8 : at+8+int(length)]
		}
		at += 8 + int(length) + int(length&1)
	}
	return nil
}

// exifOrientation looks up the tag in the first directory of a TIFF structure
// (TIFF 6.0, 2), 1 for none.
func exifOrientation(tiff []byte) int {
	tiff = bytes.TrimPrefix(tiff, []byte("Exif\x00\x00")) // some write it in WebP too
	var order binary.ByteOrder = binary.BigEndian
	switch {
	case len(tiff) < 8:
		return 1
	case bytes.HasPrefix(tiff, []byte("II*\x00")):
		order = binary.LittleEndian
	case !bytes.HasPrefix(tiff, []byte("MM\x00*")):
		return 1
	}
	start := int64(order.Uint32(tiff[4:]))
	if start+2 > int64(len(tiff)) {
		return 1
	}
	directory := tiff[start:]
	entries := int(order.Uint16(directory))
	for i := range entries {
		at := 2 + 12*i
		if at+12 > len(directory) {
			return 1
		}
		entry := directory[at : at+12]
		const orientationTag, short = 0x0112, 3
		if order.Uint16(entry) != orientationTag {
			continue
		}
		if value := int(order.Uint16(entry[8:])); order.Uint16(entry[2:]) == short && value >= 1 && value <= 8 {
			return value
		}
		return 1
	}
	return 1
}
