package stoa.front;

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

  private CallNumbers() {}

  /// Returns whether the first number of a put is that of a method.
  public static boolean isMethod(int number) {
    return number != CREATION && number < BACK;
  }

  /// Returns the put that creates an object without calling it.
  public static byte[] creation() {
    return new byte[] {CREATION};
  }
}
