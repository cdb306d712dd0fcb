package stoa.links;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.migration.core.Mandate;
import stoa.transport.Channel;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.transport.Stream;

/// One stream of frames between two processes, as one of them sees it. Thread-safe; frames come one
/// after the other.
///
/// A sender splits a frame into parts of at most [#PART_BYTES_MAX], each after a byte that is 1
/// when more parts follow.
final class Pipe implements Receiver {
  /// Receives the frames. The reading thread calls it.
  interface Listener {
    /// A frame has come.
    void frame(Pipe pipe, Frame frame);

    /// The other side has sent a sign of life.
    ///
    /// @param first whether it is the first one
    default void beat(Pipe pipe, Frame.Beat beat, boolean first) {}

    /// The stream has ended; called once, and last.
    void over(Pipe pipe, Status why);
  }

  /// The most bytes of a part.
  static final int PART_BYTES_MAX = 1 << 20;

  /// The most bytes of a frame. A leaving node hands over everything in one frame.
  static final int FRAME_BYTES_MAX = 256 << 20;

  // The one method of the tree: parts in both directions.
  private static final String METHOD = "stoa.Tree/Migrate";

  private final Listener listener;
  private final Side side;
  private final Object sending = new Object();
  private @Nullable Stream out; // guarded by sending
  private @Nullable ByteArrayOutputStream parts; // of the thread that reads
  private boolean over; // guarded by this
  private volatile long heardNanos = System.nanoTime();
  private volatile long saidNanos = heardNanos;
  private volatile long confirmedNanos = heardNanos;
  private volatile @Nullable Stamp other;

  private enum Side {
    DIALS,
    TAKES
  }

  /// The clock of the other side, and of this one when that came.
  private record Stamp(long stamp, long cameNanos) {}

  private Pipe(Listener listener, Side side) {
    this.listener = listener;
    this.side = side;
  }

  /// Takes a stream that another process has begun.
  static Pipe of(Stream stream, Listener listener) {
    var pipe = new Pipe(listener, Side.TAKES);
    pipe.out(stream);
    return pipe;
  }

  /// Returns a pipe that leads nowhere until it is dialed.
  static Pipe to(Listener listener) {
    return new Pipe(listener, Side.DIALS);
  }

  /// Begins a stream to another process.
  Pipe dial(Channel channel) {
    try {
      out(channel.open(METHOD, this));
    } catch (StatusException closed) {
      end(closed.status());
    } catch (IllegalArgumentException unusable) {
      end(Status.of(Status.Code.FAILED_PRECONDITION, unusable.getMessage()));
    }
    return this;
  }

  private void out(Stream to) {
    synchronized (sending) {
      out = to;
    }
    to.request(1);
    synchronized (this) {
      if (!over) return;
    }
    cut(Status.of(Status.Code.CANCELLED, "it was over before it began"));
  }

  /// Returns how long ago the other side was last heard, in nanoseconds.
  long silenceNanos() {
    return System.nanoTime() - heardNanos;
  }

  /// Returns how long ago the last frame was sent whose arrival the other side has confirmed, in
  /// nanoseconds: the other side has found no longer silence than that.
  long staleNanos() {
    return System.nanoTime() - confirmedNanos;
  }

  /// Sends a sign of life.
  ///
  /// @param mandate of a node, for its child; null otherwise
  void beat(@Nullable Mandate mandate) {
    var last = other;
    long age = mandate == null || last == null ? Mandate.NONE : mandate.age(last.cameNanos);
    send(new Frame.Beat(System.nanoTime(), last == null ? 0 : last.stamp, age));
  }

  /// Returns how long ago the last frame was sent, in nanoseconds.
  long idleNanos() {
    return System.nanoTime() - saidNanos;
  }

  /// Sends a frame; no effect after the end. Does not wait.
  void send(Frame frame) {
    Encoder bytes = FrameCodec.write(frame);
    saidNanos = System.nanoTime();
    if (bytes.size() > FRAME_BYTES_MAX) {
      cut(tooLarge(bytes.size()));
      return;
    }
    synchronized (sending) {
      if (out != null) sendParts(out, bytes);
    }
  }

  private static Status tooLarge(long bytes) {
    return Status.of(
        Status.Code.RESOURCE_EXHAUSTED,
        "a frame of " + bytes + " bytes; at most " + FRAME_BYTES_MAX + " can be sent");
  }

  private static void sendParts(Stream to, Encoder bytes) {
    int from = 0;
    do {
      int length = Math.min(bytes.size() - from, PART_BYTES_MAX);
      byte[] part = new byte[length + 1];
      System.arraycopy(bytes.array(), from, part, 1, length);
      from += length;
      part[0] = (byte) (from < bytes.size() ? 1 : 0);
      to.send(part);
    } while (from < bytes.size());
  }

  @Override
  public void message(byte[] part) {
    heardNanos = System.nanoTime();
    synchronized (this) {
      if (over) return;
    }
    take(part);
    Stream from;
    synchronized (sending) {
      from = out;
    }
    if (from != null) from.request(1);
  }

  private void take(byte[] part) {
    Frame frame;
    try {
      byte[] whole = gathered(part);
      if (whole == null) return;
      frame = FrameCodec.read(whole);
    } catch (Decoder.MalformedException malformed) {
      cut(Status.of(Status.Code.INVALID_ARGUMENT, malformed.getMessage()));
      return;
    }
    if (frame instanceof Frame.Beat beat) {
      boolean first = other == null;
      other = new Stamp(beat.stamp(), System.nanoTime());
      if (beat.echo() != 0) confirmedNanos = beat.echo();
      listener.beat(this, beat, first);
    } else {
      listener.frame(this, frame);
    }
  }

  private byte @Nullable [] gathered(byte[] part) {
    var before = parts;
    if (part.length == 0) return part;
    if (part[0] == 0 && before == null) return Arrays.copyOfRange(part, 1, part.length);
    if (before == null) before = new ByteArrayOutputStream(part.length * 2);
    if (before.size() + (long) part.length > FRAME_BYTES_MAX) {
      parts = null;
      cut(tooLarge(before.size() + (long) part.length));
      return null;
    }
    before.write(part, 1, part.length - 1);
    parts = part[0] == 0 ? null : before;
    return part[0] == 0 ? before.toByteArray() : null;
  }

  @Override
  public void over(Status status) {
    end(status);
  }

  @Override
  public void finished() {
    finish();
    end(Status.OK);
  }

  /// Ends it; earlier frames still arrive.
  void finish() {
    synchronized (sending) {
      Stream to = out;
      out = null;
      if (to == null) return;
      if (side == Side.DIALS) to.finish();
      else to.end(Status.OK);
    }
  }

  /// Ends it now.
  void cut(Status why) {
    synchronized (sending) {
      Stream to = out;
      out = null;
      if (to != null && side == Side.DIALS) to.cancel(why);
      else if (to != null) to.end(why);
    }
    end(why);
  }

  private void end(Status why) {
    synchronized (this) {
      if (over) return;
      over = true;
    }
    listener.over(this, why);
  }
}
