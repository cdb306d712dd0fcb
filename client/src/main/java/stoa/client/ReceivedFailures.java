package stoa.client;

import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import stoa.Aborted;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.Closed;
import stoa.Corrupt;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Diverged;
import stoa.Forbidden;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.NotUnique;
import stoa.Ref;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Decoder;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Keys;
import stoa.wire.proto.Failure;

/// Creates exceptions from a server's failures. Thread-safe.
final class ReceivedFailures {
  private final Marshaller marshaller;
  private final ClassLoader loader;

  ReceivedFailures(Marshaller marshaller, ClassLoader loader) {
    this.marshaller = marshaller;
    this.loader = loader;
  }

  /// Returns the exception of a failure, with the server's trace and then the caller's.
  RuntimeException of(Failure failure) {
    String message = failure.getMessage();
    byte[] throwable = failure.getThrowable().toByteArray();
    if (throwable.length > 0) {
      if (failure.getKind().equals("Aborted")) return aborted(throwable, message);
      Throwable told = marshaller.thrown(throwable);
      // An exception that could not be encoded has a kind and a message.
      boolean whole = !(told instanceof CallFailed) || failure.getKind().equals("CallFailed");
      if (whole && told instanceof RuntimeException thrown) return asked(thrown);
    }
    return switch (failure.getKind()) {
      case "Unavailable" -> new Unavailable(message);
      case "UnknownOutcome" -> new UnknownOutcome(message);
      case "DeadlineExceeded" -> new DeadlineExceeded(message);
      case "TooOld" -> new TooOld(message);
      case "Gone" -> new Gone(message);
      case "AlreadyExists" -> new AlreadyExists(message);
      case "NotUnique" -> new NotUnique(message);
      case "Deadlock" -> new Deadlock(message);
      case "Diverged" -> new Diverged(message);
      case "LimitExceeded" -> new LimitExceeded(message);
      case "Forbidden" -> new Forbidden(message);
      case "NotShareable" -> new NotShareable(message);
      case "Corrupt" -> new Corrupt(message);
      case "Closed" -> new Closed(message);
      case "CallFailed" -> new CallFailed(message);
      case "IllegalArgumentException" -> new IllegalArgumentException(message);
      case "IllegalStateException" -> new IllegalStateException(message);
      case "UnsupportedOperationException" -> new UnsupportedOperationException(message);
      case "NullPointerException" -> new NullPointerException(message);
      case "IndexOutOfBoundsException" -> new IndexOutOfBoundsException(message);
      case "ArithmeticException" -> new ArithmeticException(message);
      case "NoSuchElementException" -> new NoSuchElementException(message);
      case "CancellationException" -> new CancellationException(message);
      default -> new CallFailed(failure.getKind() + ": " + message);
    };
  }

  /// Returns a server's throwable, with the trace of this thread after its own.
  static <T extends Throwable> T asked(T told) {
    StackTraceElement[] here = new Throwable().getStackTrace();
    try {
      StackTraceElement[] there = told.getStackTrace();
      StackTraceElement[] all = Arrays.copyOf(there, there.length + here.length);
      System.arraycopy(here, 0, all, there.length, here.length);
      told.setStackTrace(all);
    } catch (RuntimeException own) {
      // A user's class may override these methods, and they may fail: the throwable stays as it is.
    }
    return told;
  }

  private Aborted aborted(byte[] bytes, String message) {
    var in = new Decoder(bytes);
    var ref = new Ref<Object>(in.text(), Keys.decode(in.sized(), loader));
    var readAt = new LogAddress(in.varint(), in.varint());
    var changedAt = new LogAddress(in.varint(), in.varint());
    var last = new Aborted(ref, in.varint(), readAt, in.varint(), changedAt);
    boolean tellsMore = !message.isEmpty() && !message.equals(last.getMessage());
    return tellsMore ? new Aborted(message, last) : last;
  }
}
