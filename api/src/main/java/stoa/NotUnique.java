package stoa;

/// A call would have given an object a value that another object has, in a field or accessor with
/// [Unique]; or an entry of a map, one of another key. The message names the value and that object
/// or key. The call has changed nothing.
public final class NotUnique extends StoaException {
  private static final long serialVersionUID = 1L;

  public NotUnique(String message) {
    super(message);
  }

  public NotUnique(String message, Throwable cause) {
    super(message, cause);
  }
}
