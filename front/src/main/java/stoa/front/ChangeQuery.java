package stoa.front;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Changes;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// The question of a reader of changes to a port.
///
/// @param type the stored name of the type; null for all
/// @param key the encoded key of the one object; null for all
/// @param detail how much to tell of each change
/// @param passUntil the log counter up to which released changes are passed over; 0 for none
/// @param hasKey chooses objects of the type by their encoded keys; stays at the reader
@SuppressWarnings("ArrayRecordComponent") // compared by no code
public record ChangeQuery(
    @Nullable String type,
    byte @Nullable [] key,
    Changes.Detail detail,
    long passUntil,
    Predicate<byte[]> hasKey) {
  private static final int TYPE = 1;
  private static final int KEY = 2;

  /// Asks for all objects of the type, or for the one with the key.
  public ChangeQuery(
      @Nullable String type, byte @Nullable [] key, Changes.Detail detail, long passUntil) {
    this(type, key, detail, passUntil, _ -> true);
  }

  /// Returns the same query for another detail, which passes over nothing.
  ChangeQuery with(Changes.Detail other) {
    return new ChangeQuery(type, key, other, 0, hasKey);
  }

  /// Returns the same query, which passes over what was released.
  ///
  /// @param until the last log counter of that
  ChangeQuery passing(long until) {
    return new ChangeQuery(type, key, detail, until, hasKey);
  }

  /// Writes the query.
  public void write(Encoder out) {
    out.u8((type == null ? 0 : TYPE) | (key == null ? 0 : KEY));
    if (type != null) out.text(type);
    if (key != null) out.sized(key);
    out.u8(
            switch (detail) {
              case CALLS -> 0;
              case ANSWERS -> 1;
              case STATES -> 2;
            })
        .varint(passUntil);
  }

  /// Reads a query.
  public static ChangeQuery read(Decoder in) {
    int has = in.u8();
    String type = (has & TYPE) == 0 ? null : in.text();
    byte[] key = (has & KEY) == 0 ? null : in.sized();
    Changes.Detail detail =
        switch (in.u8()) {
          case 0 -> Changes.Detail.CALLS;
          case 1 -> Changes.Detail.ANSWERS;
          default -> Changes.Detail.STATES;
        };
    return new ChangeQuery(type, key, detail, in.varint());
  }
}
