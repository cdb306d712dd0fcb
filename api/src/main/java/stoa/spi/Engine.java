package stoa.spi;

import stoa.Stoa;
import stoa.StoaConfig;

/// Opens stores of some URL schemes. [java.util.ServiceLoader] finds engines, so the API depends on
/// none.
public interface Engine {
  /// Returns whether this engine opens URLs of the scheme, for example `file`.
  boolean opens(String scheme);

  /// Opens the store that the configuration names.
  Stoa open(StoaConfig config);
}
