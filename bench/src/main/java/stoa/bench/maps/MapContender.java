package stoa.bench.maps;

import java.nio.file.Path;

/// An engine with a durable map in the process of its callers.
///
/// `ServiceLoader` finds those of other products. Implementations keep no state of their own; the
/// caller owns the stores that they open.
public interface MapContender {
  /// Returns its name in tables.
  String name();

  /// Returns how it makes a change durable, in a line.
  String how();

  /// Opens a map in an empty folder.
  OpenMap open(Path folder) throws Exception;
}
