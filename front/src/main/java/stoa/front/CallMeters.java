package stoa.front;

import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.base.Latency;
import stoa.base.Measures;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// How often the methods of shared types are called, and how long the calls take. Thread-safe.
///
/// It knows methods by name, so that it keeps no class of replaced code, and a method goes on with
/// its counts when other code executes it.
public final class CallMeters {
  private static final int METHODS_MAX = 2_000;
  private static final Named OTHERS = new Named("other", "other");

  private final ConcurrentHashMap<Named, Latency> methods = new ConcurrentHashMap<>();

  private record Named(String type, String method) {}

  /// Creates one that has seen nothing.
  public CallMeters() {}

  /// Returns the meter of a method that was used here last; null when that is to be found with
  /// [#of].
  @Nullable Latency last(SharedMethod method) {
    SharedMethod.Meter last = method.meter();
    return last != null && last.owner() == this ? last.latency() : null;
  }

  /// Returns the meter of a method. Beyond 2,000 methods, all further ones share one meter.
  public Latency of(SharedType type, SharedMethod method) {
    Latency last = last(method);
    if (last != null) return last;
    var named = new Named(type.name(), method.id());
    Latency found = methods.get(named);
    if (found == null) {
      Named kept = methods.size() < METHODS_MAX ? named : OTHERS;
      found = methods.computeIfAbsent(kept, _ -> new Latency());
    }
    method.meter(new SharedMethod.Meter(this, found));
    return found;
  }

  /// Tells all that was measured.
  ///
  /// @param side who measures: the program that calls, or the server
  public void measure(Measures out, String side) {
    methods.forEach((named, latency) ->
        out.latency(
            "stoa.calls",
            "Calls of methods of shared objects, from the call to the answer.",
            latency,
            "side",
            side,
            "type",
            named.type(),
            "method",
            named.method()));
  }
}
