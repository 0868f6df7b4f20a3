// Package sheet loads a Japanese auction house's inspection sheet, a picture or
// a PDF, and reads it.
//
// A sheet comes from a stranger, by a URL or an upload. A Loader takes its bytes
// for what they are and not for what they are called, looks at the header
// before it decodes, and hands on only pictures that it has drawn anew: no
// byte of the original, and no text in it but what can be seen, goes further.
package sheet
