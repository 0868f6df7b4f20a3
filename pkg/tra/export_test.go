package tra

// StoredJSON returns the JSON of an answer's value in Redis.
func StoredJSON(value []byte) ([]byte, bool) { return storedJSON(value) }
