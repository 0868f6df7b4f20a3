package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strconv"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
	"golang.org/x/image/webp"

	"ushuru/pkg/message"
)

// Kind is the type of a file by its content.
type Kind string

// The kinds that can be decoded.
const (
	JPEG Kind = "jpeg"
	PNG  Kind = "png"
	WebP Kind = "webp"
	GIF  Kind = "gif" // of an animation, the first picture
	PDF  Kind = "pdf" // a document
)

// kindOf returns the kind of a file by its first bytes; "" for anything that cannot be
// decoded. The name and the Content-Type of a file are only claims.
func kindOf(data []byte) Kind {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return GIF
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return WebP
	}
	return ""
}

// decoders are the two functions of each kind.
var decoders = map[Kind]struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}{
	JPEG: {jpeg.DecodeConfig, jpeg.Decode}, PNG: {png.DecodeConfig, png.Decode},
	GIF: {gif.DecodeConfig, gif.Decode}, WebP: {webp.DecodeConfig, webp.Decode},
}

// quality is the JPEG quality of the result. A higher one only makes it larger.
const quality = 90

// memoryAfter is for the steps after decoding: the picture shrunk, turned, compressed.
const memoryAfter = 3 * 4 * MaxSide * MaxSide

// memoryFor estimates how many bytes an image needs for decoding and for all later steps.
func memoryFor(kind Kind, data []byte, config image.Config) int64 {
	return decodingMemory(kind, data, config) + memoryAfter
}

// picture loads an image file.
func (l *Loader) picture(ctx context.Context, kind Kind, data []byte) ([]Image, error) {
	config, err := decoders[kind].config(bytes.NewReader(data))
	if err != nil {
		return nil, damaged(err)
	}
	if err := checkSize(config.Width, config.Height); err != nil {
		return nil, err
	}
	need := memoryFor(kind, data, config)
	if need > DefaultMemory {
		return nil, tooManyPixels(config.Width, config.Height)
	}
	if err := l.turn.Acquire(ctx, need); err != nil {
		return nil, interrupted(ctx)
	}
	defer l.turn.Release(need)
	ctx, stop := withProcessor(ctx, maxPicture)
	defer stop()
	decoded, err := decode(ctx, kind, data)
	if err != nil {
		return nil, err
	}
	made, err := encodeJPEG(ctx, decoded, orientation(kind, data), 1)
	if err != nil {
		return nil, err
	}
	return []Image{*made}, nil
}

// checkSize checks the size of an image that its header gives.
func checkSize(width, height int) error {
	switch {
	case width <= 0 || height <= 0:
		return damaged(fmt.Errorf("%d by %d pixels", width, height))
	case int64(width)*int64(height) > MaxPixels:
		return tooManyPixels(width, height)
	case min(width, height) < MinSide || max(width, height) < MinLongSide:
		return tooSmall(width, height)
	}
	if w, h := fit(width, height, MaxSide); min(w, h) < MinSide {
		return tooSmall(width, height)
	}
	return nil
}

func tooManyPixels(width, height int) error {
	return refused(TooManyPixels, pixels(width, height), nil)
}

func tooSmall(width, height int) error {
	return refused(TooSmall, pixels(width, height), nil)
}

func pixels(width, height int) message.Values {
	return message.Values{"width": strconv.Itoa(width), "height": strconv.Itoa(height)}
}

func damaged(cause error) error {
	return refused(Damaged, nil, cause)
}

// encodeJPEG makes the result of a decoded page: small, upright and not blank.
func encodeJPEG(ctx context.Context, decoded image.Image, turned, page int) (*Image, error) {
	bounds := decoded.Bounds()
	width, height := fit(bounds.Dx(), bounds.Dy(), MaxSide)
	small, err := shrink(ctx, decoded, width, height)
	if err != nil {
		return nil, err
	}
	empty, err := blank(ctx, small)
	if err != nil {
		return nil, err
	}
	if empty {
		return nil, refused(Blank, nil, nil)
	}
	small = upright(small, turned)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	return &Image{JPEG: out.Bytes(), Width: small.Rect.Dx(), Height: small.Rect.Dy(), Page: page}, nil
}

// maxScans is how many scans of a JPEG are decoded. Encoders make ten; each costs a pass over
// the whole picture, and can have a few bytes only.
const maxScans = 64

// decode decodes a picture until ctx ends. Decoders have no context, and a small file can
// occupy them for seconds.
func decode(ctx context.Context, kind Kind, data []byte) (image.Image, error) {
	if kind == JPEG && countScans(data) > maxScans {
		return nil, tooLong(fmt.Errorf("a JPEG with more than %d scans", maxScans))
	}
	decoded, err := decoders[kind].decode(&untilDone{ctx, bytes.NewReader(data)})
	if stopped := interrupted(ctx); stopped != nil {
		return nil, stopped
	}
	if err != nil {
		return nil, damaged(err)
	}
	return decoded, nil
}

// untilDone reads until ctx ends.
type untilDone struct {
	ctx  context.Context //nolint:containedctx // the interface of io.Reader has no room for it
	next io.Reader
}

// Read implements io.Reader.
func (u *untilDone) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.next.Read(b)
}

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

// fit returns the size of an image whose longest side is at most maxSide, in the
// same proportions. It never enlarges.
func fit(width, height, maxSide int) (int, int) {
	long := max(width, height)
	if long <= maxSide {
		return width, height
	}
	scale := func(side int) int {
		return max(1, int((int64(side)*int64(maxSide)+int64(long)/2)/int64(long)))
	}
	return scale(width), scale(height)
}

// shrink draws an image on white in a size that is not larger. Each pixel of the
// result is the mean of the area that it covers, so that thin strokes become pale
// but do not disappear. Besides the result it needs memory for a few rows only;
// x/image/draw needs 32 bytes for each column of the result in each row of the
// original.
func shrink(ctx context.Context, from image.Image, width, height int) (*image.RGBA, error) {
	bounds := from.Bounds()
	result := image.NewRGBA(image.Rect(0, 0, width, height))
	row := image.NewRGBA(image.Rect(0, 0, bounds.Dx(), 1))
	columns := shares(bounds.Dx(), width)
	narrow, sums := make([]float32, 3*width), make([]float32, 3*width)
	scale := float32(width) / float32(bounds.Dx()) * float32(height) / float32(bounds.Dy())
	for y, share := range shares(bounds.Dy(), height) {
		if stopped := interrupted(ctx); stopped != nil {
			return nil, stopped
		}
		draw.Draw(row, row.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(row, row.Rect, from, image.Pt(bounds.Min.X, bounds.Min.Y+y), draw.Over)
		narrowRow(narrow, row.Pix, columns)
		for i, value := range narrow {
			sums[i] += share.here * value
		}
		if !share.last {
			continue
		}
		out := result.Pix[share.to*result.Stride:]
		for x := range width {
			for c := range 3 {
				out[4*x+c] = uint8(sums[3*x+c]*scale + 0.5)
			}
			out[4*x+3] = 0xff
		}
		for i, value := range narrow {
			sums[i] = (1 - share.here) * value
		}
	}
	return result, nil
}

// share is the place of one pixel of a longer line in a shorter line.
type share struct {
	to   int     // index in the shorter line
	here float32 // the fraction of it; the rest goes to the next pixel
	last bool    // it is the last part of that pixel
}

// shares distributes a line of from pixels over a line of to pixels, to <= from.
func shares(from, to int) []share {
	list := make([]share, from)
	for i := range list {
		first := i * to / from
		s := share{to: first, here: 1, last: (i+1)*to >= (first+1)*from}
		if s.last {
			s.here = float32((first+1)*from-i*to) / float32(to)
		}
		list[i] = s
	}
	return list
}

// narrowRow adds up a row of pixels into the columns of a shorter one.
func narrowRow(narrow []float32, pixels []uint8, columns []share) {
	clear(narrow)
	for x, share := range columns {
		pixel := pixels[4*x : 4*x+3 : 4*x+3]
		into := narrow[3*share.to:]
		for c, value := range pixel {
			into[c] += share.here * float32(value)
		}
		if share.here < 1 && len(into) >= 6 {
			for c, value := range pixel {
				into[3+c] += (1 - share.here) * float32(value)
			}
		}
	}
}

// turns say, by the EXIF orientation, how x and y of the upright image follow from x and y of the
// original (Exif 2.32, tag 0x0112): 2 to 4 are mirrored or upside down, 5 to 8 lie on a side.
var turns = [...][4]float64{
	2: {-1, 0, 0, 1}, 3: {-1, 0, 0, -1}, 4: {1, 0, 0, -1}, 5: {0, 1, 1, 0}, 6: {0, -1, 1, 0}, 7: {0, -1, -1, 0}, 8: {0, 1, -1, 0},
}

// upright turns an image as its EXIF orientation says.
func upright(from *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 || orientation >= len(turns) {
		return from
	}
	turn, size := turns[orientation], from.Rect.Size()
	start := func(byX, byY float64) float64 { // where a side begins that is counted from its end
		return max(0, -byX*float64(size.X), -byY*float64(size.Y))
	}
	result := image.NewRGBA(image.Rect(0, 0, size.X, size.Y))
	if turn[0] == 0 {
		result = image.NewRGBA(image.Rect(0, 0, size.Y, size.X))
	}
	xdraw.NearestNeighbor.Transform(result, f64.Aff3{
		turn[0], turn[1], start(turn[0], turn[1]), turn[2], turn[3], start(turn[2], turn[3]),
	}, from, from.Rect, draw.Src, nil)
	return result
}

// A page is blank when in its thumbnail hardly any pixel differs in brightness from
// the pixels around it. A shadow across an empty page differs only from distant
// pixels, and the thumbnail has no scanner noise. A page with one printed line of
// text is not blank.
const (
	blankSide  = 512 // longest side of the thumbnail, in pixels
	blankBlock = 16  // a pixel is compared with the mean of a square of this side
	blankStep  = 10  // minimum difference, of 255 levels
	blankShare = 500 // at least one pixel of this number must differ
)

func blank(ctx context.Context, page *image.RGBA) (bool, error) {
	width, height := fit(page.Rect.Dx(), page.Rect.Dy(), blankSide)
	small, err := shrink(ctx, page, width, height)
	if err != nil {
		return false, err
	}
	differ := 0
	for top := 0; top < height; top += blankBlock {
		for left := 0; left < width; left += blankBlock {
			block := image.Rect(left, top, left+blankBlock, top+blankBlock).Intersect(small.Rect)
			differ += differing(small, block)
		}
	}
	return differ*blankShare < width*height, nil
}

// differing counts the pixels of a block that differ from its mean.
func differing(from *image.RGBA, block image.Rectangle) int {
	var lights []int
	sum := 0
	for y := block.Min.Y; y < block.Max.Y; y++ {
		for x := block.Min.X; x < block.Max.X; x++ {
			light := brightness(from.Pix[from.PixOffset(x, y):])
			lights, sum = append(lights, light), sum+light
		}
	}
	count := 0
	for _, light := range lights {
		off := light - sum/len(lights)
		if off > blankStep || off < -blankStep {
			count++
		}
	}
	return count
}

// brightness returns the luma of a pixel (ITU-R BT.601), 0 to 255.
func brightness(pixel []uint8) int {
	return (299*int(pixel[0]) + 587*int(pixel[1]) + 114*int(pixel[2])) / 1000
}
