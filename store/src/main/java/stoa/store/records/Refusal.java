package stoa.store.records;

import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Diverged;
import stoa.Gone;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// The logged reason for which a call was refused or taken back.
///
/// ```
/// kind u8: 0 it failed, 1 it was late, 2 it would have waited for itself, 3 its key was gone,
///   4 its key was there, 5 the replicas of its key differ; reason text
/// ```
///
/// @param kind the kind of the exception
/// @param reason its message
public record Refusal(int kind, String reason) {
  private static final int FAILED = 0;
  private static final int LATE = 1;
  private static final int DEADLOCK = 2;
  private static final int GONE = 3;
  private static final int EXISTS = 4;
  private static final int DIVERGED = 5;

  public static Refusal of(RuntimeException why) {
    int kind =
        switch (why) {
          case DeadlineExceeded _ -> LATE;
          case Deadlock _ -> DEADLOCK;
          case Gone _ -> GONE;
          case AlreadyExists _ -> EXISTS;
          case Diverged _ -> DIVERGED;
          default -> FAILED;
        };
    return new Refusal(kind, String.valueOf(why.getMessage()));
  }

  public RuntimeException exception() {
    return switch (kind) {
      case LATE -> new DeadlineExceeded(reason);
      case DEADLOCK -> new Deadlock(reason);
      case GONE -> new Gone(reason);
      case EXISTS -> new AlreadyExists(reason);
      case DIVERGED -> new Diverged(reason);
      default -> new CallFailed(reason);
    };
  }

  public void write(Encoder out) {
    out.u8(kind).message(reason);
  }

  public static Refusal read(Decoder in) {
    return new Refusal(in.u8(), in.text());
  }
}
