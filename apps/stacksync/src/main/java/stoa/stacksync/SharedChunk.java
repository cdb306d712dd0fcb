package stoa.stacksync;

import stoa.Accessor;
import stoa.Shared;

/// A shared object: a piece of contents, which any versions of any items have in common.
///
/// It calls no other object.
@Shared(name = "stacksync.Chunk", key = "fingerprint")
public class SharedChunk {
  private final String fingerprint;
  private long uses;

  /// Begins the chunk. Called by the store, and by `new` in woven code.
  public SharedChunk(String fingerprint) {
    this.fingerprint = fingerprint;
  }

  /// Returns the hash of the contents.
  @Accessor
  public String fingerprint() {
    return fingerprint;
  }

  /// Returns how often versions contain the chunk.
  @Accessor
  public long uses() {
    return uses;
  }

  /// One more version contains the chunk.
  public void use() {
    uses++;
  }
}
