package console

import (
	"io"
	"os"
	"strconv"
	"strings"
)

// IsTerminal reports whether what is written to w is shown on a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// OneLine joins the parts that are not empty.
func OneLine(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// Printable returns a text in one line and without the characters that direct a
// terminal: a page may contain any.
func Printable(text string) string {
	return OneLine(strings.Map(func(c rune) rune {
		if strconv.IsPrint(c) {
			return c
		}
		return ' '
	}, text))
}

// ShellQuote quotes a text as one word for a shell.
func ShellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
