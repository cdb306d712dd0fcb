package stoa.node;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;

/// The encoded states that clients take in parts, as many as fit. Thread-safe.
///
/// A state leaves when others need its room, or when the server restarts: the client then fetches
/// the present one.
final class LargeStates {
  static final long BYTES_MAX = 64 << 20;

  private record LargeState(Key key, byte[] state) {}

  // Guarded by this; least recently read first.
  private final LinkedHashMap<Long, LargeState> byNumber = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;
  private long last;

  /// Keeps a state; returns its number.
  synchronized long keep(Key key, byte[] state) {
    for (Map.Entry<Long, LargeState> known : byNumber.entrySet()) {
      // Many clients may ask for the same one.
      if (known.getValue().key().equals(key)
          && java.util.Arrays.equals(known.getValue().state(), state)) {
        return known.getKey();
      }
    }
    long number = ++last;
    byNumber.put(number, new LargeState(key, state));
    bytes += state.length;
    while (bytes > BYTES_MAX && byNumber.size() > 1) {
      bytes -= byNumber.pollFirstEntry().getValue().state().length;
    }
    return number;
  }

  /// Returns the state of a number; null when it has left.
  synchronized byte @Nullable [] find(Key key, long number) {
    LargeState found = byNumber.get(number);
    return found == null || !found.key().equals(key) ? null : found.state();
  }
}
