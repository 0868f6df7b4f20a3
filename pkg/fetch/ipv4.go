package fetch

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// endsInNumber reports whether a host is an IPv4 address in one of the
// spellings that browsers and resolvers take: its last part is a number.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// parseIPv4 reads the loose spellings of the WHATWG URL standard: one to four
// parts in decimal, octal (0177) or hex (0x7f), the last filling what is left.
func parseIPv4(host string) (netip.Addr, error) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, errors.New("more than four parts")
	}
	var value uint64
	for i, text := range parts {
		part, err := parsePart(text)
		if err != nil {
			return netip.Addr{}, err
		}
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if part >= 1<<bits {
			return netip.Addr{}, errors.New("part too large")
		}
		value = value<<bits | part
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), nil
}

func parsePart(text string) (uint64, error) {
	base := 10
	switch {
	case strings.HasPrefix(text, "0x"):
		text, base = text[2:], 16
		if text == "" {
			return 0, nil
		}
	case len(text) > 1 && text[0] == '0':
		base = 8
	}
	return strconv.ParseUint(text, base, 32)
}
