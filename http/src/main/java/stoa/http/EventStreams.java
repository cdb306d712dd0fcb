package stoa.http;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import stoa.node.HttpDoor;
import stoa.node.HttpDoor.Reply;

/// Streams of server-sent events, and their limit. Thread-safe.
final class EventStreams implements AutoCloseable {
  private static final int STREAMS_MAX = 64;
  private static final int REST_MILLIS = 100;
  private static final int RESTS_QUIET_MAX = 100;
  private static final byte[] ALIVE = ":\n\n".getBytes(StandardCharsets.UTF_8);

  private final Semaphore streams = new Semaphore(STREAMS_MAX);
  private final CountDownLatch closed = new CountDownLatch(1);

  /// Sends the events of one stream. One thread uses it.
  final class Sending {
    private final HttpDoor.Sending out;
    private int rests;

    private Sending(HttpDoor.Sending out) {
      this.out = out;
    }

    /// Sends an event.
    ///
    /// @param id the client names it when it comes again; empty for none
    /// @throws IOException when the client is gone, or does not read
    void event(String name, String id, JsonElement data) throws IOException {
      String first = id.isEmpty() ? "" : "id: " + id + "\n";
      String text = first + "event: " + name + "\ndata: " + JsonText.text(data) + "\n\n";
      out.send(text.getBytes(StandardCharsets.UTF_8));
      rests = 0;
    }

    /// Waits for a moment, and finds out now and then whether the client is still there; returns
    /// whether the stream goes on.
    boolean rest() throws IOException, InterruptedException {
      if (closed.await(REST_MILLIS, TimeUnit.MILLISECONDS)) return false;
      rested();
      return true;
    }

    /// Notes that there was nothing to send for a moment.
    void rested() throws IOException {
      if (++rests < RESTS_QUIET_MAX) return;
      rests = 0;
      out.send(ALIVE);
    }
  }

  /// Sends events until it returns.
  interface Source {
    /// Sends the events.
    void run(Sending out) throws IOException, InterruptedException;
  }

  /// Returns the answer that is a stream.
  ///
  /// @throws Problem when there are too many
  Reply reply(Source source) {
    if (streams.availablePermits() == 0) throw full();
    return Reply.stream(
        "text/event-stream",
        out -> {
          var sending = new Sending(out);
          if (!streams.tryAcquire()) {
            sending.event("problem", "", full().json());
            return;
          }
          try {
            source.run(sending);
          } finally {
            streams.release();
          }
        });
  }

  private static Problem full() {
    return new Problem(
        Problem.TOO_MANY,
        "Busy",
        "the server sends " + STREAMS_MAX + " streams of events now; close some");
  }

  /// Returns how long a source waits for something before it calls [Sending#rested].
  static long restMillis() {
    return REST_MILLIS;
  }

  /// Returns whether the streams have to end.
  boolean isClosed() {
    return closed.getCount() == 0;
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
