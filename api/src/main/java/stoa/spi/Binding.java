package stoa.spi;

import org.jspecify.annotations.Nullable;
import stoa.Stoa;

/// The store in which woven code outside of methods finds its shared objects, see [Stoa#bind].
/// Thread-safe.
public final class Binding {
  private static @Nullable Stoa bound;

  private Binding() {}

  /// See [Stoa#bind].
  public static synchronized void bind(Stoa stoa) {
    Stoa known = bound;
    if (known != null && !known.equals(stoa)) {
      throw new IllegalStateException(
          "another open store is bound, and a process has one at a time; close it before binding"
              + " this one, or use get of this one in place of new");
    }
    bound = stoa;
  }

  /// Records that a store closes. An engine calls this first.
  public static synchronized void closes(Stoa stoa) {
    if (stoa.equals(bound)) bound = null;
  }

  /// Returns the bound store.
  ///
  /// @param what is to be found in it
  /// @throws IllegalStateException when there is none
  static synchronized Stoa stoa(String what) {
    Stoa known = bound;
    if (known == null) {
      throw new IllegalStateException(
          what + " is in a store, and none is bound; open one, and call its bind() before");
    }
    return known;
  }
}
