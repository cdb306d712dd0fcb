package stoa.migration.core;

import stoa.base.StreamId;

/// One version of an object: an object instance, in the words of the self-service paper. Immutable;
/// nobody changes the array.
///
/// @param object the object
/// @param version which of its versions
/// @param state what the edge makes of it; the core never looks
public record Copy(StreamId object, Version version, byte[] state) {
  Copy at(Version other) {
    return new Copy(object, other, state);
  }

  @Override
  public String toString() {
    return object + "@" + version;
  }
}
