// Package rig is what the benchmarks share: the service with its simulators, in this
// process or in processes of its own, a Redis server, and the numbers that come out.
package rig
