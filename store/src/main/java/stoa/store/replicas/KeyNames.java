package stoa.store.replicas;

import stoa.base.Key;

/// The names that the layer above the store gives to keys, for a replica that follows.
public interface KeyNames {
  /// Returns a key by its space and name.
  ///
  /// @throws RuntimeException when this process cannot execute the key now
  Key key(String space, byte[] name);

  /// Describes the method that a put calls; empty when it calls none.
  String method(Key key, byte[] value);
}
