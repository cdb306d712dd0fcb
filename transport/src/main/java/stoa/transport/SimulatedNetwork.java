package stoa.transport;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// A network in one thread, from a seed: the connections are the real ones, and time, delay and
/// loss come from the simulation. It cuts the bytes into pieces of any size, as sockets do. A
/// connection may break; it never reorders or damages bytes. One thread uses it.
public final class SimulatedNetwork implements Network {
  /// The time of a simulation.
  public interface Time {
    /// Returns the time, in nanoseconds.
    long nanoTime();

    /// Runs a task after a time.
    void after(long nanos, Runnable task);
  }

  private static final long DELAY_NANOS_MAX = 500_000;
  private static final long TICK_NANOS = 100_000_000;

  // How many bytes may be under way in each direction.
  private static final int FLIGHT_BYTES_MAX = 256 << 10;

  private final SplittableRandom random;
  private final Time time;
  private final Map<Address, Port> ports = new HashMap<>();
  private final Set<Cable> cables = new LinkedHashSet<>();
  private final Set<String> silent = new HashSet<>();
  private int lastPort = 40_000;

  /// Creates it.
  public SimulatedNetwork(SplittableRandom random, Time time) {
    this.random = random;
    this.time = time;
  }

  /// Makes what is sent to a host vanish without a word, or arrive again.
  ///
  /// @param on whether it vanishes
  public void lose(String host, boolean on) {
    if (on) silent.add(host);
    else silent.remove(host);
  }

  /// Breaks each connection from or to a host, as when its process ends.
  public void breakAll(String host) {
    for (Cable cable : List.copyOf(cables)) {
      if (cable.to.host().equals(host) || cable.from.equals(host)) cable.cut();
    }
  }

  @Override
  public Connection connect(Address to, ConnectionLimits limits) {
    return connect("client", to, limits);
  }

  /// Connects from a host.
  ///
  /// @param from the name of the host, for [#lose] and [#breakAll]
  public Connection connect(String from, Address to, ConnectionLimits limits) {
    var cable = new Cable(from, to);
    cables.add(cable);
    var near = cable.near;
    near.connection = new Connection(near, limits, null, () -> {});
    soon(() -> {
      Port port = ports.get(to);
      if (port == null || port.closed || silent.contains(to.host())) {
        near.cut(Status.nobodyThere(to + " cannot be reached: nothing listens"));
        return;
      }
      cable.far.connection = new Connection(cable.far, port.limits, port.service, () -> {});
      port.open.add(cable);
      cable.port = port;
      near.made = true;
      cable.far.made = true;
      near.connection().connected();
      cable.far.connection().connected();
      near.send();
      cable.far.send();
    });
    tick(cable);
    return near.connection();
  }

  private void tick(Cable cable) {
    time.after(
        TICK_NANOS,
        () -> {
          if (!cables.contains(cable)) return;
          if (cable.near.made) {
            cable.near.connection().tick();
            cable.far.connection().tick();
          }
          tick(cable);
        });
  }

  private void soon(Runnable task) {
    time.after(1 + random.nextLong(DELAY_NANOS_MAX), task);
  }

  @Override
  public Listening listen(Address at, ConnectionLimits limits, StreamAcceptor service)
      throws IOException {
    var address = at.port() == 0 ? new Address(at.host(), ++lastPort) : at;
    var port = new Port(address, limits, service);
    if (ports.putIfAbsent(address, port) != null) {
      throw new BindException(address + " is taken");
    }
    return port;
  }

  private final class Port implements Listening {
    private final Address address;
    private final ConnectionLimits limits;
    private final StreamAcceptor service;
    private final Set<Cable> open = new LinkedHashSet<>();
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private boolean closed;

    Port(Address address, ConnectionLimits limits, StreamAcceptor service) {
      this.address = address;
      this.limits = limits;
      this.service = service;
    }

    @Override
    public int port() {
      return address.port();
    }

    @Override
    public void drain(Status why) {
      closed = true;
      ports.remove(address, this);
      for (Cable cable : List.copyOf(open)) cable.far.connection().drain(why);
      settle();
    }

    private void settle() {
      if (isOver()) end.complete(null);
    }

    @Override
    public boolean isOver() {
      open.removeIf(cable -> !cables.contains(cable));
      return closed && open.isEmpty();
    }

    @Override
    public CompletableFuture<Void> end() {
      return end;
    }

    @Override
    public void close() {
      closed = true;
      ports.remove(address, this);
      for (Cable cable : List.copyOf(open)) cable.cut();
      settle();
    }
  }

  /// Both ends of a connection.
  private final class Cable {
    private final String from;
    private final Address to;
    private final End near = new End(this);
    private final End far = new End(this);
    private @Nullable Port port;

    Cable(String from, Address to) {
      this.from = from;
      this.to = to;
      near.other = far;
      far.other = near;
      far.isServer = true;
    }

    void cut() {
      var why = Status.of(Status.Code.UNAVAILABLE, "the connection to " + to + " is lost");
      near.cut(why);
    }

    private String hostOf(End end) {
      return end.isServer ? to.host() : from;
    }
  }

  /// One end.
  private final class End implements Connection.Wire {
    private final Cable cable;
    private @Nullable End other;
    private @Nullable Connection connection;
    private boolean isServer;
    private boolean made;
    private boolean sending;
    private int flying;
    private final ArrayDeque<byte[]> flight = new ArrayDeque<>();
    private ByteBuffer rest = ByteBuffer.allocate(0);

    End(Cable cable) {
      this.cable = cable;
    }

    private Connection connection() {
      return java.util.Objects.requireNonNull(connection);
    }

    private End other() {
      return java.util.Objects.requireNonNull(other);
    }

    @Override
    public void flush() {
      if (!made || sending) return;
      sending = true;
      time.after(
          0,
          () -> {
            sending = false;
            send();
          });
    }

    /// Sends what there is room for.
    private void send() {
      if (!cables.contains(cable)) return;
      var out = ByteBuffer.allocate(Frames.FRAME_BYTES_MAX);
      while (flying < FLIGHT_BYTES_MAX && connection().fill(out.clear())) {
        out.flip();
        while (out.hasRemaining()) {
          byte[] piece = new byte[1 + random.nextInt(out.remaining())];
          out.get(piece);
          flying += piece.length;
          flight.add(piece);
          soon(this::arrive);
        }
      }
      if (connection().isDone() && flying == 0) cable.cut();
    }

    /// Delivers the oldest piece, even when the timer of a later one has fired.
    private void arrive() {
      byte[] piece = flight.poll();
      if (piece == null || !cables.contains(cable)) return;
      flying -= piece.length;
      End to = other();
      if (!silent.contains(cable.hostOf(to))) {
        var all = ByteBuffer.allocate(to.rest.remaining() + piece.length);
        all.put(to.rest).put(piece).flip();
        to.connection().received(all);
        to.rest = all;
      }
      send();
    }

    @Override
    public void execute(Runnable task) {
      time.after(0, task);
    }

    @Override
    public void cut(Status why) {
      if (!cables.remove(cable)) return;
      if (cable.port != null) cable.port.settle();
      execute(() -> connection().lost(why));
      End to = other();
      if (to.connection == null) return;
      var told = Status.of(Status.Code.UNAVAILABLE, "the connection to " + cable.to + " is lost");
      if (!silent.contains(cable.hostOf(to))) {
        soon(() -> to.connection().lost(told));
      } else {
        to.await(told);
      }
    }

    /// Notices the end of the connection only after a silence.
    private void await(Status why) {
      time.after(
          TICK_NANOS,
          () -> {
            if (silent.contains(cable.hostOf(this))) await(why);
            else connection().lost(why);
          });
    }

    @Override
    public long nanoTime() {
      return time.nanoTime();
    }

    @Override
    public Peer peer() {
      var there = new InetSocketAddress(InetAddress.getLoopbackAddress(), cable.to.port());
      return isServer ? new Peer(there, there, null) : new Peer(there, null, null);
    }
  }
}
