package stoa.links;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.CallStreamObserver;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.migration.core.Mandate;

/// One stream of frames between two processes, as one of them sees it. Thread-safe; frames come one
/// after the other.
///
/// A sender splits a frame into parts of at most [#PART_BYTES_MAX], each after a byte that is 1
/// when more parts follow.
final class Pipe implements StreamObserver<byte[]> {
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

  /// How many bytes may wait to be sent.
  static final long WAITING_BYTES_MAX = 256L << 20;

  /// The one method of the tree's service: parts in both directions.
  static final MethodDescriptor<byte[], byte[]> METHOD =
      MethodDescriptor.newBuilder(new Parts(), new Parts())
          .setType(MethodType.BIDI_STREAMING)
          .setFullMethodName(MethodDescriptor.generateFullMethodName("stoa.Tree", "Migrate"))
          .build();

  private static final class Parts implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private final Listener listener;
  private final Object sending = new Object();
  private @Nullable CallStreamObserver<byte[]> out; // guarded by sending
  private long waitingBytes; // guarded by sending
  private @Nullable ByteArrayOutputStream parts; // of the thread that reads
  private boolean over; // guarded by this
  private volatile long heardNanos = System.nanoTime();
  private volatile long saidNanos = heardNanos;
  private volatile long confirmedNanos = heardNanos;
  private volatile @Nullable Stamp other;

  /// The clock of the other side, and of this one when that came.
  private record Stamp(long stamp, long cameNanos) {}

  Pipe(Listener listener) {
    this.listener = listener;
  }

  /// Sets the target of frames; earlier frames are lost.
  void out(CallStreamObserver<byte[]> to) {
    synchronized (sending) {
      out = to;
    }
    synchronized (this) {
      if (!over) return;
    }
    cut(Status.CANCELLED.withDescription("it was over before it began"));
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
    Status trouble = null;
    saidNanos = System.nanoTime();
    synchronized (sending) {
      var to = out;
      if (to == null) return;
      if (bytes.size() > FRAME_BYTES_MAX) {
        trouble = tooLarge(bytes.size());
      } else {
        waitingBytes = to.isReady() ? 0 : waitingBytes + bytes.size();
        if (waitingBytes > WAITING_BYTES_MAX) {
          trouble =
              Status.RESOURCE_EXHAUSTED.withDescription(
                  "the other side takes what it is sent too slowly");
        } else {
          sendParts(to, bytes);
        }
      }
    }
    if (trouble != null) cut(trouble);
  }

  private static Status tooLarge(long bytes) {
    return Status.RESOURCE_EXHAUSTED.withDescription(
        "a frame of " + bytes + " bytes; at most " + FRAME_BYTES_MAX + " can be sent");
  }

  private static void sendParts(CallStreamObserver<byte[]> to, Encoder bytes) {
    try {
      int from = 0;
      do {
        int length = Math.min(bytes.size() - from, PART_BYTES_MAX);
        byte[] part = new byte[length + 1];
        System.arraycopy(bytes.array(), from, part, 1, length);
        from += length;
        part[0] = (byte) (from < bytes.size() ? 1 : 0);
        to.onNext(part);
      } while (from < bytes.size());
    } catch (IllegalStateException | StatusRuntimeException over) {
      // onError gets the end.
    }
  }

  @Override
  public void onNext(byte[] part) {
    heardNanos = System.nanoTime();
    synchronized (this) {
      if (over) return;
    }
    Frame frame;
    try {
      byte[] whole = gathered(part);
      if (whole == null) return;
      frame = FrameCodec.read(whole);
    } catch (Decoder.MalformedException malformed) {
      cut(Status.INVALID_ARGUMENT.withDescription(malformed.getMessage()));
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
  public void onError(Throwable failure) {
    end(Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    finish();
    end(Status.OK);
  }

  /// Ends it; earlier frames still arrive.
  void finish() {
    synchronized (sending) {
      var to = out;
      out = null;
      if (to == null) return;
      try {
        to.onCompleted();
      } catch (IllegalStateException | StatusRuntimeException over) {
        // It has already ended.
      }
    }
  }

  /// Ends it now.
  void cut(Status why) {
    synchronized (sending) {
      var to = out;
      out = null;
      try {
        if (to instanceof ClientCallStreamObserver<byte[]> asking) {
          asking.cancel(why.getDescription(), null);
        } else if (to != null) {
          to.onError(why.asRuntimeException());
        }
      } catch (IllegalStateException | StatusRuntimeException over) {
        // It has already ended.
      }
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
