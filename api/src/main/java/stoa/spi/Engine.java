package stoa.spi;

import stoa.Stoa;
import stoa.StoaConfig;

/// Opens stores of some URL schemes. Engines are found by [java.util.ServiceLoader], so that the
/// API depends on none.
public interface Engine {
  /// Whether this engine opens URLs of the scheme, for example `file`.
  boolean opens(String scheme);

  /// Opens the store that the configuration names.
  Stoa open(StoaConfig config);
}
