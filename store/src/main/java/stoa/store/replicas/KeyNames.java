package stoa.store.replicas;

import stoa.base.Key;

/// What the layer above the store knows of keys, for a replica that follows.
public interface KeyNames {
  /// A key by its space and name.
  ///
  /// @throws RuntimeException when it cannot be executed here, now
  Key key(String space, byte[] name);

  /// What a put calls, in words; empty when it calls nothing.
  String method(Key key, byte[] value);
}
