package stoa.migration.core;

import stoa.base.StreamId;

/// One version of an object: an object instance, in the words of the self-service paper. Immutable;
/// no code changes the array.
///
/// @param object the object
/// @param version its version
/// @param state the edge's bytes; the core never looks at them
public record Copy(StreamId object, CopyVersion version, byte[] state) {
  Copy at(CopyVersion other) {
    return new Copy(object, other, state);
  }

  @Override
  public String toString() {
    return object + "@" + version;
  }
}
