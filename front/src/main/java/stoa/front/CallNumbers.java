package stoa.front;

/// What stands in front of a put of a shared object: the number of the method that it calls, which
/// is that of the method's name in the dictionary plus 1, or a number that stands for something
/// else.
public final class CallNumbers {
  /// Stands for the creation of an object without a call, in place of a method's number.
  public static final int CREATION = 0;

  /// Stands for a state that was made elsewhere, in place of a method's number.
  static final int STATE = Integer.MAX_VALUE;

  /// Stands for the object being lent to clients from then on.
  static final int LENT = STATE - 1;

  /// Stands for the object being back.
  static final int BACK = STATE - 2;

  private CallNumbers() {}

  /// Returns whether what stands in front of a put is the number of a method.
  public static boolean isMethod(int number) {
    return number != CREATION && number < BACK;
  }

  /// The put that creates an object without calling it.
  public static byte[] creation() {
    return new byte[] {CREATION};
  }
}
