package stoa.transport;

import org.jspecify.annotations.Nullable;

/// How a stream ended. Immutable.
///
/// @param code the kind of end
/// @param description the reason for people; null for none
/// @param isNobodyThere whether the host is reachable and nothing listens at the address: its
///   process has ended. No frame carries it.
public record Status(Code code, @Nullable String description, boolean isNobodyThere) {
  /// The kinds of ends. Each has the number that stands for it in a frame.
  public enum Code {
    /// As it should.
    OK(0),
    /// One side has given it up.
    CANCELLED(1),
    /// Anything else.
    UNKNOWN(2),
    /// The request makes no sense.
    INVALID_ARGUMENT(3),
    /// Its time is over.
    DEADLINE_EXCEEDED(4),
    /// The thing that it asks for is not there.
    NOT_FOUND(5),
    /// The client is known, and may not do this.
    PERMISSION_DENIED(7),
    /// A limit is reached.
    RESOURCE_EXHAUSTED(8),
    /// The two sides do not fit together.
    FAILED_PRECONDITION(9),
    /// Another stream has taken its place.
    ABORTED(10),
    /// There is no such method.
    UNIMPLEMENTED(12),
    /// A fault of this software.
    INTERNAL(13),
    /// The other side, or the way to it, is not there.
    UNAVAILABLE(14),
    /// The client is unknown.
    UNAUTHENTICATED(16);

    private final int number;

    Code(int number) {
      this.number = number;
    }

    /// Returns the number in a frame.
    int number() {
      return number;
    }

    /// Returns the code of a number; [#UNKNOWN] for one that no version before this one has.
    static Code of(int number) {
      for (Code code : values()) {
        if (code.number == number) return code;
      }
      return UNKNOWN;
    }
  }

  /// The good end.
  public static final Status OK = new Status(Code.OK, null, false);

  /// Returns an end with a reason.
  public static Status of(Code code, @Nullable String description) {
    return new Status(code, description, false);
  }

  /// Returns the end of a stream to an address at which nothing listens.
  static Status nobodyThere(String description) {
    return new Status(Code.UNAVAILABLE, description, true);
  }

  /// Returns the status that an exception carries; [Code#UNKNOWN] for any other exception.
  public static Status of(Throwable failure) {
    return failure instanceof StatusException known
        ? known.status()
        : of(Code.UNKNOWN, failure.toString());
  }

  /// Returns whether this is the good end.
  public boolean isOk() {
    return code == Code.OK;
  }

  /// Returns an exception that carries this.
  public StatusException exception() {
    return new StatusException(this);
  }

  @Override
  public String toString() {
    return description == null ? code.toString() : code + ": " + description;
  }
}
