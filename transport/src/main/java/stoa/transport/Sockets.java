package stoa.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Repeats;

/// The network of this process: sockets, and the threads that read them. Thread-safe; its owner
/// closes it.
public final class Sockets implements Network, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Sockets.class);
  private static final int BACKLOG = 1_024;

  // The pause after a failure to accept, as when the process has no more files.
  private static final long PAUSE_NANOS = 100_000_000;

  private final Loops loops;

  // The thread that accepts: those that read may be kept by a service. Guarded by this; null until
  // a port is opened.
  private @Nullable Loops accepting;

  private boolean closed; // guarded by this
  private final Buffers buffers = new Buffers();
  private final @Nullable Tls tls;
  private final Sending sending;

  /// Which thread writes to a socket what a thread sends.
  public enum Sending {
    /// The sending thread while it is alone on a connection and each message has an answer on it;
    /// otherwise the thread that reads, which gathers what many send.
    GATHERED,
    /// The sending thread, always: for few threads that wait for each other, and for connections on
    /// which nothing comes back. A change of threads takes longer than what it saves there.
    AT_ONCE
  }

  /// Creates it, and starts its threads.
  ///
  /// @param threads how many threads share the sockets
  /// @param factory makes them
  /// @param tls encrypts all connections; null for none
  public Sockets(int threads, ThreadFactory factory, @Nullable Tls tls) {
    this(threads, factory, tls, Sending.GATHERED);
  }

  /// Creates it, and starts its threads.
  ///
  /// @param threads how many threads share the sockets
  /// @param factory makes them
  /// @param tls encrypts all connections; null for none
  /// @param sending which thread writes
  public Sockets(int threads, ThreadFactory factory, @Nullable Tls tls, Sending sending) {
    this.loops = new Loops(threads, factory);
    this.tls = tls;
    this.sending = sending;
  }

  /// Returns the sockets of a client: one thread, whose name is given.
  public static Sockets client(String name, @Nullable Tls tls) {
    return new Sockets(1, Thread.ofPlatform().daemon().name(name).factory(), tls);
  }

  /// Returns what runs tasks on the current thread after it has read everything available, if it is
  /// one of these threads; otherwise null.
  public @Nullable Executor current() {
    return loops.current();
  }

  /// Returns what runs tasks on each of the threads.
  public List<Executor> threads() {
    return List.copyOf(loops.all());
  }

  @Override
  public Connection connect(Address to, ConnectionLimits limits) {
    Loops.Loop loop = loops.next();
    Secured secured = tls == null ? null : new Secured(tls.connecting(to));
    var wire = new SocketWire(buffers, loop, sending, to.toString(), secured, _ -> {});
    var connection = new Connection(wire, limits, null, () -> {});
    wire.of(connection);
    InetAddress known = literal(to.host());
    if (known != null) {
      var address = new InetSocketAddress(known, to.port());
      loop.execute(() -> wire.connect(List.of(address).iterator()));
    } else {
      Thread.ofVirtual().name("stoa-resolve").start(() -> resolve(to, loop, wire));
    }
    return connection;
  }

  private static @Nullable InetAddress literal(String host) {
    try {
      return InetAddress.ofLiteral(host);
    } catch (IllegalArgumentException name) {
      return null;
    }
  }

  private static void resolve(Address to, Loops.Loop loop, SocketWire wire) {
    try {
      var addresses = new ArrayList<InetSocketAddress>();
      for (InetAddress one : InetAddress.getAllByName(to.host())) {
        addresses.add(new InetSocketAddress(one, to.port()));
      }
      loop.execute(() -> wire.connect(addresses.iterator()));
    } catch (UnknownHostException unknown) {
      loop.execute(() -> wire.unknown("the host " + to.host() + " is unknown"));
    }
  }

  @Override
  public Listening listen(Address at, ConnectionLimits limits, StreamAcceptor service)
      throws IOException {
    var channel = ServerSocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.bind(new InetSocketAddress(InetAddress.getByName(at.host()), at.port()), BACKLOG);
      channel.configureBlocking(false);
      return new Port(channel, limits, service, accepting().next());
    } catch (IOException | RuntimeException failed) {
      channel.close();
      throw failed instanceof IOException io ? io : new IOException(failed.getMessage(), failed);
    }
  }

  private synchronized Loops accepting() throws IOException {
    if (closed) throw new IOException("the network of this process has ended");
    Loops known = accepting;
    if (known == null) {
      known = new Loops(1, Thread.ofPlatform().daemon().name("stoa-accepter").factory());
      accepting = known;
    }
    return known;
  }

  /// A port, and the connections that have come to it.
  private final class Port implements Listening, Loops.Handler {
    private final ServerSocketChannel channel;
    private final int port;
    private final ConnectionLimits limits;
    private final StreamAcceptor service;
    private final Loops.Loop loop;
    private final Set<SocketWire> open = ConcurrentHashMap.newKeySet();
    private final ConcurrentHashMap<SocketWire, Connection> connections = new ConcurrentHashMap<>();
    private final Repeats repeats = new Repeats();
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    // The connections that have begun no stream, the oldest first. Guarded by itself.
    private final LinkedHashMap<SocketWire, Long> arrivals = new LinkedHashMap<>();

    private volatile @Nullable Status closed;
    private volatile boolean released;
    private @Nullable SelectionKey key; // of the thread
    private long pausedNanos; // of the thread; 0 while it accepts

    Port(
        ServerSocketChannel channel,
        ConnectionLimits limits,
        StreamAcceptor service,
        Loops.Loop loop)
        throws IOException {
      this.channel = channel;
      this.loop = loop;
      this.limits = limits;
      this.service = service;
      this.port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
      loop.enter(this);
      loop.execute(this::register);
    }

    private void register() {
      try {
        key = loop.register(channel, SelectionKey.OP_ACCEPT, this);
      } catch (IOException closed) {
        LOG.debug("a port was closed before it began", closed);
      }
    }

    @Override
    public int port() {
      return port;
    }

    @Override
    public void act(SelectionKey with) {
      try {
        SocketChannel next;
        while (closed == null && (next = channel.accept()) != null) accepted(next);
      } catch (IOException failed) {
        if (closed != null) return;
        repeats.tell("no connection can be accepted: " + failed, LOG::warn);
        with.interestOps(0);
        pausedNanos = System.nanoTime();
      }
    }

    private void accepted(SocketChannel next) {
      Loops.Loop reading = loops.next();
      Secured secured = tls == null ? null : new Secured(tls.accepting());
      var wire =
          new SocketWire(
              buffers, reading, sending, String.valueOf(remote(next)), secured, this::over);
      var connection = new Connection(wire, limits, service, () -> begun(wire));
      wire.of(connection);
      open.add(wire);
      connections.put(wire, connection);
      SocketWire oldest = null;
      synchronized (arrivals) {
        if (arrivals.size() >= limits.arrivalsMax()) oldest = arrivals.pollFirstEntry().getKey();
        arrivals.put(wire, System.nanoTime());
      }
      if (oldest != null) {
        oldest.cut(Status.of(Status.Code.RESOURCE_EXHAUSTED, "too many connections say nothing"));
      }
      reading.execute(() -> wire.accepted(next));
      if (closed != null) wire.cut(Status.of(Status.Code.UNAVAILABLE, "the port is closed"));
    }

    private static @Nullable Object remote(SocketChannel of) {
      try {
        return of.getRemoteAddress();
      } catch (IOException gone) {
        return null;
      }
    }

    private void begun(SocketWire wire) {
      synchronized (arrivals) {
        arrivals.remove(wire);
      }
    }

    private void over(SocketWire wire) {
      begun(wire);
      connections.remove(wire);
      open.remove(wire);
      if (isOver()) end.complete(null);
    }

    @Override
    public void tick() {
      long now = System.nanoTime();
      if (pausedNanos != 0 && now - pausedNanos > PAUSE_NANOS) {
        pausedNanos = 0;
        SelectionKey its = key;
        if (its != null && its.isValid()) its.interestOps(SelectionKey.OP_ACCEPT);
      }
      var late = new ArrayList<SocketWire>();
      synchronized (arrivals) {
        while (!arrivals.isEmpty()
            && now - arrivals.firstEntry().getValue() > limits.arrival().toNanos()) {
          late.add(arrivals.pollFirstEntry().getKey());
        }
      }
      for (SocketWire wire : late) {
        wire.cut(Status.of(Status.Code.UNAVAILABLE, "nothing was asked in time"));
      }
    }

    @Override
    public void drain() {
      // It sends nothing.
    }

    @Override
    public void stopped() {
      close();
    }

    @Override
    public void drain(Status why) {
      stop(why);
      connections.values().forEach(connection -> connection.drain(why));
    }

    private void stop(Status why) {
      if (closed != null) return;
      closed = why;
      loop.leave(this);
      loop.execute(this::release);
    }

    private void release() {
      try {
        channel.close();
      } catch (IOException e) {
        LOG.debug("a port was not closed cleanly", e);
      }
      loop.settle();
      released = true;
      if (isOver()) end.complete(null);
    }

    @Override
    public boolean isOver() {
      return released && open.isEmpty();
    }

    @Override
    public CompletableFuture<Void> end() {
      return end;
    }

    @Override
    public void close() {
      var why = Status.of(Status.Code.UNAVAILABLE, "the server has ended");
      stop(why);
      for (SocketWire wire : open) wire.cut(why);
    }
  }

  /// Ends all connections. Does not wait.
  @Override
  public void close() {
    Loops ports;
    synchronized (this) {
      closed = true;
      ports = accepting;
    }
    if (ports != null) ports.close();
    loops.close();
  }

  /// Waits until a closed network has ended.
  ///
  /// @return false when it has not, after that time
  public boolean await(long millis) throws InterruptedException {
    Loops ports;
    synchronized (this) {
      ports = accepting;
    }
    return (ports == null || ports.await(millis)) && loops.await(millis);
  }
}
