package stoa.trials;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import stoa.sim.Chance;

/// A bad network on this machine between clients and a server: connections end, in one direction
/// first or in both, after a number of bytes, and some are slow.
///
/// Thread-safe.
final class CuttingNetwork implements AutoCloseable {
  private static final int BUFFER_BYTES = 4_096;
  private static final int LOSING_SECONDS_MAX = 2;
  private static final int DELAY_NANOS = 1_000_000;

  private final ServerSocket listening;
  private final int target;
  private final int bytesMax;
  private final Chance chance; // guarded by this
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicInteger cuts = new AtomicInteger();
  private volatile boolean calm;
  private volatile boolean losing;
  private final Semaphore lost = new Semaphore(0);

  /// @param target the port of the server
  /// @param bytesMax the most bytes of a connection in each direction before it ends
  CuttingNetwork(int target, int bytesMax, Chance chance) throws IOException {
    this.target = target;
    this.bytesMax = bytesMax;
    this.chance = chance;
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  /// Returns its URL for clients.
  String url() {
    return "stoa://127.0.0.1:" + listening.getLocalPort();
  }

  /// Stops ending connections.
  void calm() {
    calm = true;
  }

  /// Begins to lose the server's messages, until [#deliver], and waits until it has lost some: the
  /// server has executed calls without an answer.
  ///
  /// @param messages the number of lost messages to wait for
  /// @param millis a further wait, in which the server learns which earlier messages have arrived
  void lose(int messages, int millis) throws InterruptedException {
    lost.drainPermits();
    losing = true;
    if (!lost.tryAcquire(messages, LOSING_SECONDS_MAX, TimeUnit.SECONDS)) return;
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /// Ends the losses.
  void deliver() {
    losing = false;
  }

  /// Returns how many connections it has cut.
  int cuts() {
    return cuts.get();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        sockets.add(client);
        try {
          Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
          sockets.add(server);
          Thread.ofVirtual().start(() -> pass(client, server, false));
          Thread.ofVirtual().start(() -> pass(server, client, true));
        } catch (IOException nobody) {
          end(client);
        }
      } catch (IOException closed) {
        // The loop checks.
      }
    }
  }

  private void pass(Socket from, Socket to, boolean answers) {
    int left;
    boolean half;
    boolean slow;
    synchronized (this) {
      left = chance.between(1, bytesMax);
      half = chance.percent(25);
      slow = chance.percent(25);
    }
    var buffer = new byte[BUFFER_BYTES];
    try {
      var in = from.getInputStream();
      var out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (answers && losing) {
          lost.release();
          continue;
        }
        if (slow) LockSupport.parkNanos(DELAY_NANOS);
        if (!calm && read >= left) {
          out.write(buffer, 0, left);
          cuts.incrementAndGet();
          if (half) {
            to.shutdownOutput();
            from.shutdownInput();
            LockSupport.parkNanos(DELAY_NANOS);
          }
          break;
        }
        left -= Math.min(read, left);
        out.write(buffer, 0, read);
      }
    } catch (IOException ended) {
      // So is the other direction.
    }
    end(from);
    end(to);
  }

  private void end(Socket socket) {
    sockets.remove(socket);
    try {
      socket.close();
    } catch (IOException _) {
      // The connection is unusable.
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    sockets.forEach(this::end);
  }
}
