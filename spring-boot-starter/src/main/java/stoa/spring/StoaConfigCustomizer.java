package stoa.spring;

import stoa.StoaConfig;

/// Changes how the application opens its store. Beans of this type run in their order, after the
/// properties `stoa.*`, and set what has no property.
@FunctionalInterface
public interface StoaConfigCustomizer {
  /// Returns the changed configuration.
  StoaConfig customize(StoaConfig config);
}
