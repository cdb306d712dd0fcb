package stoa.front;

import stoa.base.Decoder;
import stoa.base.Encoder;

/// The first number of a put of a shared object: the number of the called method, which is that of
/// the method's name in the dictionary plus 1, or one of the special numbers here.
public final class CallNumbers {
  /// Marks the creation of an object without a call, in place of a method's number.
  public static final int CREATION = 0;

  /// Marks a state that a client made, in place of a method's number.
  static final int STATE = Integer.MAX_VALUE;

  /// Marks that the object is lent to clients from then on.
  static final int LENT = STATE - 1;

  /// Marks that the object has returned to the store.
  static final int BACK = STATE - 2;

  /// Marks that an object leaves its indexes, before a transaction deletes it.
  static final int LEAVING = STATE - 3;

  private CallNumbers() {}

  /// Returns whether the first number of a put is that of a method.
  public static boolean isMethod(int number) {
    return number != CREATION && number < LEAVING;
  }

  /// Returns the put by which an object leaves its indexes.
  public static byte[] leaving() {
    return new Encoder(5).varint(LEAVING).toBytes();
  }

  /// Returns whether a put is that of [#leaving()].
  public static boolean isLeaving(byte[] put) {
    return put.length == 5 && new Decoder(put).varint() == LEAVING;
  }

  /// Returns the put that creates an object without calling it.
  public static byte[] creation() {
    return new byte[] {CREATION};
  }
}
