package stoa.transport;

import java.time.Duration;
import java.util.function.Consumer;

/// The limits of connections. Immutable.
///
/// @param messageBytesMax the most bytes of a message that comes
/// @param windowBytes how many bytes of a stream may come before its receiver has asked for them
/// @param queuedBytesMax how many bytes of a stream may wait to be sent; one more ends the stream
/// @param streamsMax how many streams of a connection the other end may have open
/// @param ping the silence of the other end after which this end asks for a sign of life
/// @param patience the silence after such a question that ends the connection
/// @param idle for how long a connection without streams stays; zero for ever
/// @param arrival the time that a new connection has to begin a stream
/// @param arrivalsMax how many connections may have begun none; one more takes the place of the
///   oldest
public record ConnectionLimits(
    int messageBytesMax,
    int windowBytes,
    long queuedBytesMax,
    int streamsMax,
    Duration ping,
    Duration patience,
    Duration idle,
    Duration arrival,
    int arrivalsMax) {
  /// The limits that suit most connections.
  public static final ConnectionLimits DEFAULT =
      new ConnectionLimits(
          8 << 20,
          Frames.WINDOW_BYTES,
          512L << 20,
          64,
          Duration.ofSeconds(20),
          Duration.ofSeconds(10),
          Duration.ZERO,
          Duration.ofSeconds(10),
          1_000);

  /// Checks the limits.
  public ConnectionLimits {
    if (windowBytes < Frames.WINDOW_BYTES) {
      throw new IllegalArgumentException(
          "a window of " + windowBytes + " bytes; give at least " + Frames.WINDOW_BYTES);
    }
    if (messageBytesMax < 1 || streamsMax < 1 || arrivalsMax < 1) {
      throw new IllegalArgumentException("a limit below 1; give greater ones");
    }
  }

  /// Returns these with another limit of messages.
  public ConnectionLimits withMessageBytesMax(int bytes) {
    return with(changed -> changed.messageBytesMax = bytes);
  }

  /// Returns these with another limit of what waits to be sent.
  public ConnectionLimits withQueuedBytesMax(long bytes) {
    return with(changed -> changed.queuedBytesMax = bytes);
  }

  /// Returns these with another limit of open streams.
  public ConnectionLimits withStreamsMax(int streams) {
    return with(changed -> changed.streamsMax = streams);
  }

  /// Returns these with other times of silence.
  public ConnectionLimits withSilence(Duration ping, Duration patience) {
    return with(changed -> {
      changed.ping = ping;
      changed.patience = patience;
    });
  }

  /// Returns these with another time for connections without streams.
  public ConnectionLimits withIdle(Duration idle) {
    return with(changed -> changed.idle = idle);
  }

  /// Returns these with other limits of connections that have begun nothing.
  public ConnectionLimits withArrivals(Duration time, int count) {
    return with(changed -> {
      changed.arrival = time;
      changed.arrivalsMax = count;
    });
  }

  private ConnectionLimits with(Consumer<Changed> change) {
    var changed = new Changed(this);
    change.accept(changed);
    return changed.limits();
  }

  /// The limits while they are changed.
  private static final class Changed {
    private int messageBytesMax;
    private final int windowBytes;
    private long queuedBytesMax;
    private int streamsMax;
    private Duration ping;
    private Duration patience;
    private Duration idle;
    private Duration arrival;
    private int arrivalsMax;

    private Changed(ConnectionLimits of) {
      messageBytesMax = of.messageBytesMax;
      windowBytes = of.windowBytes;
      queuedBytesMax = of.queuedBytesMax;
      streamsMax = of.streamsMax;
      ping = of.ping;
      patience = of.patience;
      idle = of.idle;
      arrival = of.arrival;
      arrivalsMax = of.arrivalsMax;
    }

    private ConnectionLimits limits() {
      return new ConnectionLimits(
          messageBytesMax,
          windowBytes,
          queuedBytesMax,
          streamsMax,
          ping,
          patience,
          idle,
          arrival,
          arrivalsMax);
    }
  }
}
