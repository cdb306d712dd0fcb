package stoa.transport;

import java.util.ArrayDeque;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One exchange of messages over a connection, as one side has it. The client begins it; the end of
/// either side ends it for both. Thread-safe.
public final class Stream {
  /// How many bytes may wait before a stream takes no more.
  static final int READY_BYTES = 64 << 10;

  private final Connection connection;
  private final String method;
  private final Map<String, String> headers;

  // All the rest belongs to the connection and is guarded by it.
  int number;
  @Nullable Receiver receiver;
  boolean over;

  // ---- out
  final ArrayDeque<byte[]> outbox = new ArrayDeque<>();
  int outAt;
  long queuedBytes;
  long credit = Frames.WINDOW_BYTES;
  boolean listed;
  boolean wantsReady = true;
  boolean finishing;
  boolean saidFinish;
  @Nullable Status ending;

  // ---- in
  final ArrayDeque<Came> inbox = new ArrayDeque<>();
  byte @Nullable [] partial;
  int partialSize;
  int partialCost;
  long requested;
  long granted = Frames.WINDOW_BYTES;
  long received;
  long consumed;
  boolean otherFinished;
  boolean toldFinished;
  @Nullable Status otherEnded;
  boolean delivering;

  /// A message that has come.
  ///
  /// @param cost the bytes of its frames
  record Came(byte[] message, int cost) {}

  Stream(Connection connection, int number, String method, Map<String, String> headers) {
    this.connection = connection;
    this.number = number;
    this.method = method;
    this.headers = headers;
  }

  /// Returns the method that the client has named.
  public String method() {
    return method;
  }

  /// Returns what the client has said with the name.
  public Map<String, String> headers() {
    return headers;
  }

  /// Returns the ends of the connection.
  public Peer peer() {
    return connection.peer();
  }

  /// Sends a message; no effect after the end. Does not wait.
  ///
  /// @param message not changed afterwards
  public void send(byte[] message) {
    connection.send(this, message);
  }

  /// Returns whether a message would leave soon. After a negative answer, [Receiver#ready] tells
  /// when that has changed.
  public boolean isReady() {
    return connection.isReady(this);
  }

  /// Asks for further messages. The other side stops when too much waits.
  public void request(int count) {
    connection.request(this, count);
  }

  /// Says that this side, a client, sends no more messages.
  public void finish() {
    connection.finish(this);
  }

  /// Ends it, behind the messages that were sent.
  public void end(Status status) {
    connection.end(this, status, false);
  }

  /// Ends it at once; messages that have not left are lost.
  public void cancel(Status status) {
    connection.end(this, status, true);
  }

  /// Returns whether either side has ended it.
  public boolean isOver() {
    synchronized (connection) {
      return over;
    }
  }
}
