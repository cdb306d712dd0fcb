package stoa.transport;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A connection over a socket. Thread-safe.
final class SocketWire implements Connection.Wire, Loops.Handler {
  /*
   * `pending` counts the flushes since no thread was sending. The thread that raises it from 0 has
   * the turn, and sends until it is 0 again: the calling thread at once, or the thread that reads,
   * after it has read everything available. With Sending.GATHERED, while there is one flush between
   * any two reads, it is sent at once, so that a lone caller wakes no other thread; the requests of
   * many callers gather at the thread that reads. A socket that takes no more keeps the turn until it
   * is writable; a connection that is not made yet keeps it from the start.
   */
  private static final Logger LOG = LoggerFactory.getLogger(SocketWire.class);

  // How many flushes a lone caller makes before something comes.
  private static final int LONE_MAX = 1;

  private static final long CONNECT_NANOS = 10_000_000_000L;

  private final Buffers buffers;
  private final Loops.Loop loop;
  private final Sockets.Sending sending;
  private final String name;
  private final Consumer<SocketWire> over;
  private final long beganNanos = System.nanoTime();
  private final AtomicInteger pending = new AtomicInteger(1);
  private final @Nullable Secured secured;
  private volatile @Nullable SocketChannel channel;
  private volatile Peer peer = Peer.UNKNOWN;

  // The flushes of other threads since something came, and between the two reads before. Threads
  // may count wrongly: that costs some time, and nothing else.
  private int sinceRead;
  private int beforeRead;

  // Of the thread that reads.
  private @Nullable Connection connection;
  private @Nullable SelectionKey key;
  private @Nullable ByteBuffer rest;
  private @Nullable Iterator<InetSocketAddress> addresses;
  private @Nullable IOException refused;
  private boolean connected;
  private boolean ended;

  // Of the thread whose turn it is.
  private @Nullable ByteBuffer out;

  /// Creates it.
  ///
  /// @param sending which thread writes
  /// @param name the other end, for people
  /// @param secured null without encryption
  /// @param over learns of its end
  SocketWire(
      Buffers buffers,
      Loops.Loop loop,
      Sockets.Sending sending,
      String name,
      @Nullable Secured secured,
      Consumer<SocketWire> over) {
    this.buffers = buffers;
    this.loop = loop;
    this.sending = sending;
    this.name = name;
    this.secured = secured;
    this.over = over;
  }

  /// Sets whose bytes these are, before anything else.
  void of(Connection its) {
    connection = its;
  }

  private Connection connection() {
    return java.util.Objects.requireNonNull(connection);
  }

  // ---- beginning

  /// Uses a socket that was accepted. Called by the thread that reads.
  void accepted(SocketChannel from) {
    loop.enter(this);
    try {
      channel = from;
      begin(from, SelectionKey.OP_READ);
      made(from);
    } catch (IOException gone) {
      ended(lost(gone));
    }
  }

  /// Connects to the first of some addresses that can be reached. Called by the thread that reads.
  void connect(Iterator<InetSocketAddress> to) {
    if (ended) return;
    loop.enter(this);
    addresses = to;
    connectNext();
  }

  /// Notes that there is nothing to connect to. Called by the thread that reads.
  void unknown(String why) {
    ended(Status.of(Status.Code.UNAVAILABLE, unreached(why)));
  }

  private String unreached(String why) {
    return name + " cannot be reached: " + why;
  }

  private void connectNext() {
    Iterator<InetSocketAddress> to = addresses;
    while (!ended && to != null && to.hasNext()) {
      InetSocketAddress address = to.next();
      try {
        SocketChannel next = SocketChannel.open();
        channel = next;
        begin(next, SelectionKey.OP_CONNECT);
        if (next.connect(address)) made(next);
        return;
      } catch (IOException | RuntimeException failed) {
        closeChannel();
        refused = failed instanceof IOException io ? io : new IOException(failed);
      }
    }
    IOException last = refused;
    String why = last == null ? "it has no address" : String.valueOf(last.getMessage());
    // A connection that only takes too long is given up before the system ends it so.
    if (last instanceof ConnectException) ended(Status.nobodyThere(unreached(why)));
    else unknown(why);
  }

  private void begin(SocketChannel with, int operations) throws IOException {
    with.configureBlocking(false);
    with.setOption(StandardSocketOptions.TCP_NODELAY, true);
    key = loop.register(with, operations, this);
  }

  private void made(SocketChannel with) throws IOException {
    SelectionKey its = key;
    if (its != null) its.interestOps(SelectionKey.OP_READ);
    addresses = null;
    peer =
        new Peer(
            (InetSocketAddress) with.getRemoteAddress(),
            (InetSocketAddress) with.getLocalAddress(),
            null);
    if (secured == null) ready();
    else secured.begin();
    drain();
  }

  /// The two ends can speak.
  private void ready() {
    if (connected) return;
    connected = true;
    Secured tls = secured;
    Peer known = peer;
    if (tls != null) peer = new Peer(known.remote(), known.local(), tls.certificate());
    connection().connected();
  }

  // ---- reading

  @Override
  public void act(SelectionKey with) {
    SocketChannel its = channel;
    if (its == null || !its.equals(with.channel())) return;
    if (with.isConnectable()) {
      try {
        if (its.finishConnect()) made(its);
      } catch (IOException failed) {
        closeChannel();
        refused = failed;
        connectNext();
      }
      return;
    }
    if (with.isReadable()) read(its);
    if (with.isValid() && with.isWritable()) {
      with.interestOps(SelectionKey.OP_READ);
      drain();
    }
  }

  private void read(SocketChannel from) {
    ByteBuffer in = begun();
    beforeRead = sinceRead;
    sinceRead = 0;
    try {
      int count = from.read(in);
      in.flip();
      if (count < 0) {
        ended(Status.of(Status.Code.UNAVAILABLE, name + " has closed the connection"));
        return;
      }
      take(in);
    } catch (IOException gone) {
      ended(lost(gone));
    }
  }

  /// Reads what was held until something was written.
  private void readHeld() {
    if (ended) return;
    take(begun().flip());
  }

  /// Returns a buffer that begins with what was not whole.
  private ByteBuffer begun() {
    ByteBuffer in = loop.in();
    ByteBuffer before = rest;
    if (before != null) in.put(before);
    rest = null;
    return in;
  }

  private void take(ByteBuffer in) {
    try {
      Secured tls = secured;
      if (tls == null) connection().received(in);
      else if (tls.read(in, loop.plain(), connection(), this::ready)) flush();
      if (in.hasRemaining() && !ended) rest = kept(in);
    } catch (SSLException stranger) {
      if (!connected) connection().refused(stranger);
      ended(lost(stranger));
    } catch (IOException gone) {
      ended(lost(gone));
    }
  }

  /// Returns a copy of what remains of a buffer.
  static ByteBuffer kept(ByteBuffer of) {
    var copy = ByteBuffer.allocate(of.remaining());
    copy.put(of);
    return copy.flip();
  }

  private Status lost(IOException cause) {
    String why = cause instanceof ClosedChannelException ? "closed" : cause.getMessage();
    return Status.of(Status.Code.UNAVAILABLE, "the connection to " + name + " is lost: " + why);
  }

  // ---- sending

  @Override
  public void flush() {
    boolean own = loop.isCurrent();
    if (!own) sinceRead++;
    if (pending.getAndIncrement() != 0) return;
    if (own) {
      loop.touch(this);
    } else if (sending == Sockets.Sending.AT_ONCE || isLone()) {
      drain();
    } else {
      loop.execute(this::drain);
    }
  }

  private boolean isLone() {
    return sinceRead <= LONE_MAX && beforeRead <= LONE_MAX;
  }

  @Override
  public void drain() {
    int seen = pending.get();
    do {
      try {
        if (!drainNow()) return;
      } catch (IOException gone) {
        cut(lost(gone));
        return;
      } catch (RuntimeException | Error broken) {
        cut(Status.of(broken));
        throw broken;
      }
      seen = pending.addAndGet(-seen);
    } while (seen != 0);
  }

  /// Sends everything waiting; returns false when the socket takes no more, and keeps the turn
  /// then.
  private boolean drainNow() throws IOException {
    SocketChannel to = channel;
    if (to == null) return false;
    ByteBuffer bytes = out;
    while (true) {
      if (bytes != null && bytes.hasRemaining()) {
        to.write(bytes);
        if (bytes.hasRemaining()) {
          out = bytes;
          loop.execute(this::awaitWritable);
          return false;
        }
      }
      if (bytes == null) bytes = buffers.take();
      bytes.clear();
      boolean some = secured == null ? connection().fill(bytes) : wrap(secured, bytes);
      bytes.flip();
      if (!some) break;
    }
    buffers.give(bytes);
    out = null;
    if (isDone()) cut(Status.of(Status.Code.UNAVAILABLE, "the connection has ended"));
    return true;
  }

  private boolean wrap(Secured tls, ByteBuffer bytes) throws IOException {
    boolean some = tls.write(connection(), bytes);
    if (tls.takeReady()) loop.execute(this::ready);
    if (tls.takeHeld()) loop.execute(this::readHeld);
    return some;
  }

  private boolean isDone() {
    return connection().isDone() && (secured == null || secured.isDone());
  }

  private void awaitWritable() {
    SelectionKey its = key;
    if (its != null && its.isValid()) {
      its.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }
  }

  // ---- the rest

  @Override
  public void execute(Runnable task) {
    loop.execute(task);
  }

  @Override
  public void cut(Status why) {
    loop.execute(() -> ended(why));
  }

  private void ended(Status why) {
    if (ended) return;
    ended = true;
    loop.leave(this);
    closeChannel();
    connection().lost(why);
    over.accept(this);
  }

  private void closeChannel() {
    SocketChannel its = channel;
    if (its == null) return;
    try {
      its.close();
    } catch (IOException e) {
      LOG.debug("a connection was not closed cleanly", e);
    }
  }

  @Override
  public void tick() {
    if (ended) return;
    if (connected) {
      connection().tick();
    } else if (System.nanoTime() - beganNanos > CONNECT_NANOS) {
      ended(Status.of(Status.Code.UNAVAILABLE, name + " did not answer in time"));
    }
  }

  @Override
  public void stopped() {
    ended(Status.of(Status.Code.UNAVAILABLE, "the network of this process has ended"));
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Peer peer() {
    return peer;
  }

  @Override
  public String toString() {
    return name;
  }
}
