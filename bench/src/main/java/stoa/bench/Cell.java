package stoa.bench;

import stoa.Accessor;
import stoa.Shared;

/// The shared object that holds one value, as a key of a key-value store does.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.Cell")
public class Cell {
  private byte[] value = {};

  protected Cell() {}

  /// Replaces the value.
  public void set(byte[] bytes) {
    value = bytes;
  }

  /// The value.
  @Accessor
  public byte[] value() {
    return value;
  }
}
