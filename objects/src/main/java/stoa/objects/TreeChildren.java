package stoa.objects;

import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;

/// The nodes directly below the root of each tree of client-placed objects, in the store itself:
/// the next root expects them. Thread-safe; waits for the disk.
///
/// A key for each domain holds a list, since a tree may have thousands of leaves below its root.
/// The store trims the key's stream from time to time.
///
/// ```
/// put:                           names that come, names that go
/// answer of a get, checkpoint:   names
/// names:                         count varint, then each name as text
/// answer of a put:               nothing
/// ```
final class TreeChildren {
  private static final String SPACE = "stoa/tree";

  // The number of changes after which the store trims the stream.
  private static final int TRIM_EVERY = 1_024;

  private final Store store;
  private final Key key;
  private int changes; // guarded by this
  // The list; null while it may be another one. Guarded by this.
  private @Nullable SortedSet<String> known;

  /// Creates the list of a domain.
  TreeChildren(Store store, String domain) {
    this.store = store;
    key = Key.of(SPACE, domain);
  }

  /// Registers the lists with a store, which executes them.
  static void executed(Store store) {
    store.register(SPACE, Names.FACTORY);
  }

  /// Returns the list.
  synchronized SortedSet<String> all() {
    var all = known;
    if (all == null) {
      var terms = Terms.expecting(new Existence.Any(null)).at(Pace.SHORT);
      all = names(new Decoder(store.get(store.target(key), key, terms).answer().encoded()));
      known = all;
    }
    return new TreeSet<>(all);
  }

  /// Replaces the list; durable on return.
  synchronized void replace(Collection<String> names) {
    SortedSet<String> before = all();
    var come = new TreeSet<>(names);
    come.removeAll(before);
    var gone = new TreeSet<>(before);
    gone.removeAll(new TreeSet<>(names));
    if (come.isEmpty() && gone.isEmpty()) return;
    known = null;
    byte[] change = names(names(new Encoder(64), come), gone).toBytes();
    var terms = Terms.expecting(new Existence.Any(null)).at(Pace.SHORT);
    var _ = store.put(store.target(key), Put.of(change), terms).answer();
    known = new TreeSet<>(names);
    if (++changes % TRIM_EVERY == 0) store.forget(key);
  }

  private static Encoder names(Encoder out, Collection<String> names) {
    out.varint(names.size());
    names.forEach(out::text);
    return out;
  }

  private static SortedSet<String> names(Decoder in) {
    SortedSet<String> names = new TreeSet<>();
    for (long left = in.varint(); left > 0; left--) names.add(in.text());
    return names;
  }

  private static final class Names implements Handler {
    private static final HandlerFactory FACTORY =
        new HandlerFactory() {
          @Override
          public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
            return new Names(new TreeSet<>());
          }

          @Override
          public boolean isOrdered() {
            return false;
          }

          @Override
          public Handler restore(Key key, byte[] checkpoint) {
            return new Names(names(new Decoder(checkpoint)));
          }

          @Override
          public Answer failure(RuntimeException cause) {
            throw new IllegalStateException("a list of names makes no calls", cause);
          }
        };

    private final SortedSet<String> all;

    private Names(SortedSet<String> all) {
      this.all = all;
    }

    @Override
    public Answer put(byte[] value, Execution execution) {
      var in = new Decoder(value);
      all.addAll(names(in));
      all.removeAll(names(in));
      return () -> new byte[0];
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      byte[] now = checkpoint();
      return () -> now;
    }

    @Override
    public byte[] checkpoint() {
      return names(new Encoder(64), all).toBytes();
    }
  }
}
