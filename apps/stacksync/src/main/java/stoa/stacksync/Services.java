package stoa.stacksync;

import stoa.Stoa;

/// Opens the service of a store.
public final class Services {
  private Services() {}

  /// Opens the service.
  ///
  /// @param name of the facade. Each thread that serves devices uses a name of its own: a facade
  ///   works on one request at a time. The design [Design#FACADE_ALONE] does not need it.
  public static SyncService open(Stoa store, Object name, Design design) {
    return switch (design) {
      case EVERYTHING_SHARED, ITEMS_EMBEDDED -> store.get(Facade.class, name, design);
      case FACADE_ALONE -> new FacadeRouter(store);
    };
  }

  /// Opens the service in the design that the store has, to read.
  public static SyncService reader(Stoa store) {
    try (var facades = store.list(WholeFacade.class)) {
      if (facades.iterator().hasNext()) return open(store, "", Design.FACADE_ALONE);
    }
    try (var facades = store.list(Facade.class)) {
      for (var facade : facades) return facade;
    }
    return open(store, "", Design.FACADE_ALONE);
  }

  /// Finishes the calls that a client had in progress when it ended: each continues when its facade
  /// is used again.
  ///
  /// @throws IllegalArgumentException when the store holds the service in another design
  public static void finishInterrupted(Stoa store, Design design) {
    if (design != Design.FACADE_ALONE) {
      try (var facades = store.list(WholeFacade.class)) {
        if (facades.iterator().hasNext()) throw other(Design.FACADE_ALONE, design);
      }
    }
    try (var facades = store.list(Facade.class)) {
      for (var facade : facades) {
        var found = facade.design();
        if (found != design) throw other(found, design);
      }
    }
  }

  private static IllegalArgumentException other(Design found, Design wanted) {
    return new IllegalArgumentException(
        "the store holds the service in the design "
            + found
            + ", not "
            + wanted
            + "; use that one, or another store");
  }
}
