package stoa.objects;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
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
/// A key for each domain holds a list, which each put replaces. The store trims the key's stream
/// from time to time.
///
/// ```
/// put, answer of a get, checkpoint:   count varint, then each name as text
/// answer of a put:                    nothing
/// ```
final class TreeChildren {
  private static final String SPACE = "stoa/tree";

  // The number of changes after which the store trims the stream.
  private static final int TRIM_EVERY = 1_024;

  private final Store store;
  private final Key key;
  private int changes; // guarded by this

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
  List<String> all() {
    var request =
        store.get(store.target(key), key, Terms.expecting(new Existence.Any(null)).at(Pace.SHORT));
    var in = new Decoder(request.answer().encoded());
    List<String> all = new ArrayList<>();
    for (long left = in.varint(); left > 0; left--) all.add(in.text());
    return all;
  }

  /// Replaces the list; durable on return.
  synchronized void replace(Collection<String> names) {
    var out = new Encoder(64).varint(names.size());
    names.forEach(out::text);
    var terms = Terms.expecting(new Existence.Any(null)).at(Pace.SHORT);
    var _ = store.put(store.target(key), Put.of(out.toBytes()), terms).answer();
    if (++changes % TRIM_EVERY == 0) store.forget(key);
  }

  private static final class Names implements Handler {
    private static final HandlerFactory FACTORY =
        new HandlerFactory() {
          @Override
          public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
            return new Names(new Encoder(1).varint(0).toBytes());
          }

          @Override
          public boolean isOrdered() {
            return false;
          }

          @Override
          public Handler restore(Key key, byte[] checkpoint) {
            return new Names(checkpoint);
          }

          @Override
          public Answer failure(RuntimeException cause) {
            throw new IllegalStateException("a list of names makes no calls", cause);
          }
        };

    private byte[] all;

    private Names(byte[] all) {
      this.all = all;
    }

    @Override
    public Answer put(byte[] value, Execution execution) {
      all = value.clone();
      return () -> new byte[0];
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      byte[] now = checkpoint();
      return () -> now;
    }

    @Override
    public byte[] checkpoint() {
      return all.clone();
    }
  }
}
