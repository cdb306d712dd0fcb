package stoa.stacksync;

/// A piece of a file's contents. Immutable; the same piece may be part of many versions and items.
///
/// @param fingerprint a hash of the contents, under which an object storage service keeps them
public record Chunk(String fingerprint) {}
