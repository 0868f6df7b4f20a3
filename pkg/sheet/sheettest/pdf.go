package sheettest

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"strings"
)

// PDF puts a JPEG on a page of its own size, with a line of text below it, as a
// scanner with character recognition does. It is for tests.
func PDF(picture []byte, text string) ([]byte, error) {
	size, err := jpeg.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	const below = 40 // points for the text
	width, height := size.Width/2, size.Height/2
	escaped := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
	content := fmt.Sprintf("q %d 0 0 %d 0 %d cm /Im Do Q BT /F 9 Tf 12 14 Td (%s) Tj ET", width, height, below, escaped)
	var b bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		_, _ = fmt.Fprintf(&b, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(offsets)}, args...)...)
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R"+
		" /Resources << /XObject << /Im 5 0 R >> /Font << /F 6 0 R >> >> >>", width, height+below)
	object("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
	object("<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB /BitsPerComponent 8"+
		" /Filter /DCTDecode /Length %d >>\nstream\n%s\nendstream", size.Width, size.Height, len(picture), picture)
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	table := b.Len()
	_, _ = fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		_, _ = fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	_, _ = fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return b.Bytes(), nil
}
