// Package dom reads the tree of an HTML page: its elements in order, their visible text,
// and what is hidden or struck out. It bounds what a hostile page can cost.
package dom
