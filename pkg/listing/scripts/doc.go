// Package scripts reads the data that a page gives to its own scripts: JSON and the
// payload of React server components.
package scripts
