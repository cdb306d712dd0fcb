package stoa.objects;

import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;

/// The names of the keys at which a session listens, so that the store finds its listeners when it
/// ends. The store has one such key for each session.
///
/// The store adds a name before it registers the listener, and removes it after the listener: a
/// name may have no listener.
///
/// ```
/// put:         1 u8, name raw     it will listen there
///              2 u8, name raw     it does not any more
/// checkpoint:  { name sized }
/// ```
final class ListeningKeys implements Handler {
  static final byte[] QUERY = {};

  private static final int LISTENS = 1;
  private static final int LEAVES = 2;

  /// The names.
  record Names(List<byte[]> all) implements Answer {
    @Override
    public byte[] encoded() {
      throw new UnsupportedOperationException("a question is not logged");
    }
  }

  static final class Factory implements HandlerFactory {
    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      return new ListeningKeys();
    }

    @Override
    public boolean isOrdered() {
      return false;
    }

    @Override
    public boolean hasPast() {
      return false;
    }

    @Override
    public boolean givesUp(byte[] put) {
      return put[0] == LEAVES;
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      var restored = new ListeningKeys();
      restored.names.addAll(in(checkpoint));
      return restored;
    }

    @Override
    public Answer failure(RuntimeException cause) {
      throw new IllegalStateException("no handler asks from within the store", cause);
    }
  }

  private final Set<ByteBuffer> names = new LinkedHashSet<>();

  /// Returns the names in a checkpoint.
  static Set<ByteBuffer> in(byte[] checkpoint) {
    var names = new LinkedHashSet<ByteBuffer>();
    var in = new Decoder(checkpoint);
    while (in.remaining() > 0) names.add(ByteBuffer.wrap(in.sized()));
    return names;
  }

  /// Applies a put to the names; returns whether it found the name.
  static boolean apply(byte[] put, Set<ByteBuffer> names) {
    ByteBuffer name = ByteBuffer.wrap(put, 1, put.length - 1).slice();
    return put[0] == LISTENS ? !names.add(name) : names.remove(name);
  }

  /// Returns the put that notes a key of the session.
  static byte[] listens(byte[] name) {
    return new Encoder(name.length + 1).u8(LISTENS).raw(name).toBytes();
  }

  /// Returns the put that removes a key of the session.
  static byte[] leaves(byte[] name) {
    return new Encoder(name.length + 1).u8(LEAVES).raw(name).toBytes();
  }

  @Override
  public Answer put(byte[] value, Execution execution) {
    return new KeyAnswer.Done(apply(value, names));
  }

  @Override
  public Answer get(@Nullable Object query, Execution execution) {
    return new Names(names.stream().map(ListeningKeys::bytes).toList());
  }

  @Override
  public byte[] checkpoint() {
    var out = new Encoder(64 * names.size());
    for (ByteBuffer name : names) out.sized(bytes(name));
    return out.toBytes();
  }

  /// Returns a name as it is in a put.
  static byte[] bytes(ByteBuffer name) {
    byte[] bytes = new byte[name.remaining()];
    name.duplicate().get(bytes);
    return bytes;
  }
}
