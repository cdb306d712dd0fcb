package stoa.collections;

/// A key and its value.
record Pair(Object key, Object value) {}
