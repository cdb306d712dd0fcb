package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.History;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// A state of an object from a client, as a put in the object's stream.
///
/// ```
/// put:      varint, the mark of a state                 encoded: varint, the generation
///           the state, encoded                                     varint, the number
///                                                                  the state as the marshaller writes it
/// ```
///
/// @param generation rises whenever newer states were lost
/// @param number rises with every update
/// @param bytes the state as the marshaller writes it; empty when the object was never constructed
public record PlacedState(long generation, long number, byte[] bytes) {
  private static final byte[] MARK = new Encoder(8).varint(CallNumbers.STATE).toBytes();

  private static final byte[] LENT = new Encoder(8).varint(CallNumbers.LENT).toBytes();
  private static final byte[] BACK = new Encoder(8).varint(CallNumbers.BACK).toBytes();

  /// Returns whether it is newer than another state, or there is no other.
  public boolean isNewerThan(@Nullable PlacedState other) {
    if (other == null || generation > other.generation) return true;
    return generation == other.generation && number > other.number;
  }

  /// Returns the event of a put that calls no method.
  public static History.Event event(byte[] put) {
    if (isIn(put)) return new History.Event.Changed();
    if (isSide(put, true)) return new History.Event.Lent();
    if (isSide(put, false)) return new History.Event.Returned();
    return new History.Event.Created();
  }

  /// Returns the put that lends an object to clients, or brings it back unchanged.
  public static byte[] side(boolean lent) {
    return (lent ? LENT : BACK).clone();
  }

  /// Returns whether a put is such a one.
  public static boolean isSide(byte[] put, boolean lent) {
    return java.util.Arrays.equals(put, lent ? LENT : BACK);
  }

  /// The length of the prefix of a state in a put.
  public static final int PREFIX = MARK.length;

  /// Returns whether a put contains a state.
  public static boolean isIn(byte[] put) {
    return put.length > PREFIX && java.util.Arrays.equals(put, 0, PREFIX, MARK, 0, PREFIX);
  }

  /// Returns the state that is encoded from an offset on.
  public static PlacedState decode(byte[] encoded, int from) {
    var in = new Decoder(java.util.Arrays.copyOfRange(encoded, from, encoded.length));
    long generation = in.varint();
    long number = in.varint();
    return new PlacedState(
        generation,
        number,
        java.util.Arrays.copyOfRange(encoded, from + in.position(), encoded.length));
  }

  /// Returns the state in a checkpoint. The object must have been at a client, and constructible.
  public static PlacedState inCheckpoint(byte[] checkpoint) {
    return decode(checkpoint, 1);
  }

  /// Returns the encoding in a checkpoint.
  public byte[] encoded() {
    return new Encoder(bytes.length + 20).varint(generation).varint(number).raw(bytes).toBytes();
  }

  /// Returns the encoding in a put.
  public byte[] put() {
    return new Encoder(bytes.length + 25).raw(MARK).raw(encoded()).toBytes();
  }
}
