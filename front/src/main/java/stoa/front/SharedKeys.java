package stoa.front;

import java.util.Arrays;
import java.util.function.Function;
import stoa.CallFailed;
import stoa.StoaException;
import stoa.base.Key;
import stoa.base.ThrowableText;

/// The constants and messages of the listenable key-value store that all its users share.
public final class SharedKeys {
  /// The space of its keys.
  public static final String SPACE = "stoa/key";

  /// The first byte of the reason why a listener has ended: it fell behind. The exception follows,
  /// as the marshaller writes it; the listener receives it unchanged.
  public static final byte BEHIND = 1;

  /// The longest time for which a value stays that is put for a time: 1,000 years.
  public static final long STAY_MICROS_MAX = 365_243L * 86_400_000_000L;

  private SharedKeys() {}

  /// Returns a key of any store.
  ///
  /// @param encoded as [stoa.front.types.Keys] writes it
  public static Key key(byte[] encoded) {
    return new Key(SPACE, encoded, SPACE);
  }

  /// Returns the exception that tells a listener why it has ended.
  ///
  /// @param ended the reason in the state
  /// @param decode decodes a throwable
  public static StoaException cause(byte[] ended, Function<byte[], Throwable> decode) {
    Throwable thrown = decode.apply(Arrays.copyOfRange(ended, 1, ended.length));
    if (ended[0] == BEHIND && thrown instanceof StoaException told) return told;
    return new CallFailed("the handler of the listener threw " + ThrowableText.of(thrown), thrown);
  }
}
