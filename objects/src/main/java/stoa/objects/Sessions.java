package stoa.objects;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
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
import stoa.store.running.Request;
import stoa.store.running.Target;

/// The open sessions of clients, in the store itself, so that they survive the process (CRESON,
/// section III-D). Thread-safe; waits for the disk.
///
/// A key of its own holds the table. The store trims the table's stream from time to time, so that
/// it does not grow with the ended sessions.
///
/// ```
/// put:         1 u8, secret 16        opens a session, whose id is the put's stream address
///              2 u8, id varint        ends one
/// answer:      1 u8, id varint        of the session that was opened
///              2 u8, 1 u8 or 0 u8     whether there was one to end
/// checkpoint:  count varint, then each: id varint, secret 16
/// ```
public final class Sessions {
  /// The bytes of a secret.
  public static final int SECRET_BYTES = 16;

  private static final String SPACE = "stoa/session";
  private static final Key KEY = Key.of(SPACE, "table");
  private static final int OPEN = 1;
  private static final int END = 2;

  // The number of sessions after which the store trims the stream.
  private static final int TRIM_EVERY = 1_024;

  /// A session.
  ///
  /// @param id a positive number that no other session has
  /// @param secret authenticates its client
  public record Session(long id, byte[] secret) {
    /// Compares a secret in constant time.
    public boolean isSecret(byte[] told) {
      return java.security.MessageDigest.isEqual(secret, told);
    }

    /// Returns the id without the secret.
    @Override
    public String toString() {
      return "session " + id;
    }
  }

  private final Store store;
  private final Target target;
  private final SecureRandom random = new SecureRandom();
  private final AtomicLong changes = new AtomicLong();

  Sessions(Store store) {
    this.store = store;
    executed(store);
    this.target = store.target(KEY);
  }

  /// Registers the table with a store, which executes it.
  static void executed(Store store) {
    store.register(SPACE, Table.FACTORY);
  }

  /// Opens a session.
  public Session open() {
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    var in = put(new Encoder(SECRET_BYTES + 1).u8(OPEN).raw(secret).toBytes());
    return new Session(in.varint(), secret);
  }

  /// Ends a session; returns whether it was open.
  public boolean end(long id) {
    store.endWaiting(id);
    var in = put(new Encoder(12).u8(END).varint(id).toBytes());
    return in.u8() == 1;
  }

  private Decoder put(byte[] value) {
    Request request =
        store.put(target, Put.of(value), Terms.expecting(new Existence.Any(null)).at(Pace.SHORT));
    byte[] answer = request.answer().encoded();
    var in = new Decoder(answer);
    var _ = in.u8();
    if (changes.incrementAndGet() % TRIM_EVERY == 0) {
      store.forget(KEY);
    }
    return in;
  }

  /// Returns the open sessions, oldest first.
  public List<Session> all() {
    Request request =
        store.get(target, KEY, Terms.expecting(new Existence.Any(null)).at(Pace.SHORT));
    var in = new Decoder(request.answer().encoded());
    var all = new ArrayList<Session>();
    for (long left = in.varint(); left > 0; left--) {
      all.add(new Session(in.varint(), in.raw(SECRET_BYTES)));
    }
    return all;
  }

  /// Returns the session of an id, or null when it has ended.
  public @Nullable Session find(long id) {
    for (Session session : all()) {
      if (session.id() == id) return session;
    }
    return null;
  }

  /// Returns the oldest readable address of the stream.
  long oldest() {
    return store.oldest(KEY);
  }

  private static final class Table implements Handler {
    private static final HandlerFactory FACTORY =
        new HandlerFactory() {
          @Override
          public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
            return new Table();
          }

          @Override
          public boolean isOrdered() {
            return false;
          }

          @Override
          public Handler restore(Key key, byte[] checkpoint) {
            var table = new Table();
            var in = new Decoder(checkpoint);
            for (long left = in.varint(); left > 0; left--) {
              table.secrets.put(in.varint(), in.raw(SECRET_BYTES));
            }
            return table;
          }

          @Override
          public Answer failure(RuntimeException cause) {
            throw new IllegalStateException("the table of sessions makes no calls", cause);
          }
        };

    private final TreeMap<Long, byte[]> secrets = new TreeMap<>();

    @Override
    public Answer put(byte[] value, Execution execution) {
      var in = new Decoder(value);
      var out = new Encoder(12);
      if (in.u8() == OPEN) {
        secrets.put(execution.address(), in.raw(SECRET_BYTES));
        out.u8(OPEN).varint(execution.address());
      } else {
        out.u8(END).u8(secrets.remove(in.varint()) != null ? 1 : 0);
      }
      byte[] answer = out.toBytes();
      return () -> answer;
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      byte[] all = checkpoint();
      return () -> all;
    }

    @Override
    public byte[] checkpoint() {
      var out = new Encoder(16 + secrets.size() * (SECRET_BYTES + 6)).varint(secrets.size());
      secrets.forEach((id, secret) -> out.varint(id).raw(Arrays.copyOf(secret, SECRET_BYTES)));
      return out.toBytes();
    }
  }
}
