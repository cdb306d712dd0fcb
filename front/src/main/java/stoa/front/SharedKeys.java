package stoa.front;

import java.util.Arrays;
import java.util.function.Function;
import stoa.CallFailed;
import stoa.StoaException;
import stoa.base.Key;
import stoa.base.ThrowableText;

/// The words of the listenable key-value store that all who use it share.
public final class SharedKeys {
  /// The space of its keys.
  public static final String SPACE = "stoa/key";

  /// The first byte of why a listener has ended: it did not keep up. The exception follows, as the
  /// marshaller writes it, which the listener is told as it is.
  public static final byte BEHIND = 1;

  private SharedKeys() {}

  /// A key of any store.
  ///
  /// @param encoded as [stoa.front.types.Keys] writes it
  public static Key key(byte[] encoded) {
    return new Key(SPACE, encoded, SPACE);
  }

  /// What a listener is told of why it has ended.
  ///
  /// @param ended as it is in the state
  /// @param decode decodes what the marshaller wrote of a throwable
  public static StoaException cause(byte[] ended, Function<byte[], Throwable> decode) {
    Throwable thrown = decode.apply(Arrays.copyOfRange(ended, 1, ended.length));
    if (ended[0] == BEHIND && thrown instanceof StoaException told) return told;
    return new CallFailed("the handler of the listener threw " + ThrowableText.of(thrown), thrown);
  }
}
