package stoa.wire;

import com.google.protobuf.UnsafeByteOperations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Existence;
import stoa.wire.proto.At;
import stoa.wire.proto.Request;

/// The messages of values that clients and servers both send.
public final class MessageForms {
  private MessageForms() {}

  /// Returns the message of an expectation. The bytes of its opening must not change afterwards.
  public static stoa.wire.proto.Existence existence(Existence existence) {
    var made = stoa.wire.proto.Existence.newBuilder();
    switch (existence) {
      case Existence.Any _ -> made.setKind(stoa.wire.proto.Existence.Kind.ANY);
      case Existence.Absent _ -> made.setKind(stoa.wire.proto.Existence.Kind.ABSENT);
      case Existence.Undeleted _ -> made.setKind(stoa.wire.proto.Existence.Kind.UNDELETED);
      case Existence.Generation(long generation, _) ->
          made.setKind(stoa.wire.proto.Existence.Kind.GENERATION).setGeneration(generation);
    }
    byte[] opening = existence.opening();
    if (opening != null) {
      made.setHasOpening(true).setOpening(UnsafeByteOperations.unsafeWrap(opening));
    }
    return made.build();
  }

  /// Returns the expectation of a message.
  ///
  /// @throws IllegalArgumentException when this release does not know its kind
  public static Existence existence(stoa.wire.proto.Existence told) {
    byte[] opening = told.getHasOpening() ? told.getOpening().toByteArray() : null;
    return switch (told.getKind()) {
      case ANY -> new Existence.Any(opening);
      case ABSENT -> new Existence.Absent(opening);
      case GENERATION -> new Existence.Generation(told.getGeneration(), opening);
      case UNDELETED -> new Existence.Undeleted(opening);
      case UNRECOGNIZED ->
          throw new IllegalArgumentException(
              "an existence of a kind that this release does not know");
    };
  }

  /// Returns the message of a log address.
  public static At at(LogAddress address) {
    return At.newBuilder().setEpoch(address.epoch()).setCounter(address.counter()).build();
  }

  /// Returns the log address of a message.
  public static LogAddress at(At at) {
    return new LogAddress(at.getEpoch(), at.getCounter());
  }

  // ---- time limits

  /// Sets how long a call may take that may wait for a condition; null for no limit.
  public static Request.Builder limitWaiting(Request.Builder request, @Nullable Duration timeMax) {
    if (timeMax == null) return request.setTimeMillis(0);
    if (timeMax.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) <= 0) {
      return request.setTimeMillis(Math.max(1, (int) timeMax.toMillis()));
    }
    boolean fits = timeMax.compareTo(Duration.ofMillis(Long.MAX_VALUE)) < 0;
    return request
        .setTimeMillis(Integer.MAX_VALUE)
        .setWaitMillis(fits ? timeMax.toMillis() : Long.MAX_VALUE);
  }

  /// Returns how long a call may take that may wait for a condition, in milliseconds; 0 for no
  /// limit.
  public static long waitMillis(Request request) {
    long millis = request.getWaitMillis();
    return millis > 0 ? millis : request.getTimeMillis();
  }
}
