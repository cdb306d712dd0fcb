package stoa.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/// A bad network before a server: it cuts, half-closes and delays connections, as a seed says,
/// after so many bytes.
final class Cuts implements AutoCloseable {
  private static final int BUFFER_BYTES = 4_096;
  private static final long DELAY_NANOS = 2_000_000;

  private final ServerSocket listening;
  private final Random random; // guarded by this
  private final int bytesMax;
  private final List<Socket> sockets = new ArrayList<>(); // guarded by this
  private volatile int target;
  private volatile boolean calm;
  private int cuts; // guarded by this

  /// @param target the port of the server
  /// @param bytesMax how many bytes a connection lives at most, in each direction
  Cuts(int target, long seed, int bytesMax) throws IOException {
    this.target = target;
    this.bytesMax = bytesMax;
    random = new Random(seed);
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /// The server listens somewhere else.
  void target(int port) {
    target = port;
  }

  /// From now on connections live.
  void calm() {
    calm = true;
  }

  /// How many connections it has cut.
  synchronized int cuts() {
    return cuts;
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Socket server;
        try {
          server = new Socket(InetAddress.getLoopbackAddress(), target);
        } catch (IOException nobody) {
          client.close();
          continue;
        }
        synchronized (this) {
          sockets.add(client);
          sockets.add(server);
        }
        Thread.ofVirtual().start(() -> pass(client, server));
        Thread.ofVirtual().start(() -> pass(server, client));
      } catch (IOException closed) {
        // The loop looks.
      }
    }
  }

  private void pass(Socket from, Socket to) {
    int left;
    boolean half;
    boolean slow;
    synchronized (this) {
      left = 1 + random.nextInt(bytesMax);
      half = random.nextInt(4) == 0;
      slow = random.nextInt(4) == 0;
    }
    var buffer = new byte[BUFFER_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      while (true) {
        int read = in.read(buffer);
        if (read < 0) break;
        if (slow) LockSupport.parkNanos(DELAY_NANOS);
        if (!calm && read >= left) {
          out.write(buffer, 0, left);
          synchronized (this) {
            cuts++;
          }
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
    } catch (IOException cut) {
      // So is the other direction.
    }
    close(from);
    close(to);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    List<Socket> all;
    synchronized (this) {
      all = List.copyOf(sockets);
    }
    all.forEach(Cuts::close);
  }
}
