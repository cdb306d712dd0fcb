package stoa.tickets;

/// A shared object refuses a request. The transaction takes everything back.
public abstract sealed class Refused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private Refused(String message) {
    super(message);
  }

  /// There is no such show, seat or booking.
  public static final class NotFound extends Refused {
    private static final long serialVersionUID = 1L;

    /// Names what is not there.
    public NotFound(String message) {
      super(message);
    }
  }

  /// Another customer has it.
  public static final class Taken extends Refused {
    private static final long serialVersionUID = 1L;

    /// Names what is taken.
    public Taken(String message) {
      super(message);
    }
  }

  /// The account has too little money.
  public static final class TooExpensive extends Refused {
    private static final long serialVersionUID = 1L;

    /// Names the amounts.
    public TooExpensive(String message) {
      super(message);
    }
  }
}
