package stoa.collections;

/// The key of one child of a sharded map.
record ShardKey(String map, int child) {}
