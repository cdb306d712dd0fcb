package stoa.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The port at which clients find a server, whose bytes the test holds or cuts off. It stays while
/// the server behind it ends and starts again. Thread-safe.
final class Front implements AutoCloseable {
  private static final int BUFFER_BYTES = 64 << 10;
  private static final int BACKLOG = 64;

  private enum Passing {
    OPEN,
    HELD,
    CUT
  }

  private final InetAddress host = InetAddress.getLoopbackAddress();
  private final ServerSocket listening;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Thread accepting;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Guarded by lock: how bytes pass, and the port of the server; 0 while there is none.
  private Passing passing = Passing.OPEN;
  private int server;

  Front() {
    try {
      listening = new ServerSocket(0, BACKLOG, host);
    } catch (IOException failed) {
      throw new UncheckedIOException("no port of the loopback device is free", failed);
    }
    accepting = Thread.ofVirtual().name("stoa-test-front").start(this::accept);
  }

  /// Returns where clients find the server, `HOST:PORT`.
  String address() {
    return host.getHostAddress() + ":" + listening.getLocalPort();
  }

  /// Leads to a server from now on.
  ///
  /// @param port its port; 0 for none: then all connections end
  void leadsTo(int port) {
    lock.lock();
    try {
      server = port;
    } finally {
      lock.unlock();
    }
    if (port == 0) endAll();
  }

  /// Holds all bytes back.
  void hold() {
    pass(Passing.HELD);
  }

  /// Ends all connections, and each new one at once.
  void cut() {
    pass(Passing.CUT);
    endAll();
  }

  /// Lets all bytes pass.
  void open() {
    pass(Passing.OPEN);
  }

  private void pass(Passing how) {
    lock.lock();
    try {
      passing = how;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Waits while bytes are held back.
  ///
  /// @return the port of the server; 0 when there is none for a client
  private int await() {
    lock.lock();
    try {
      while (passing == Passing.HELD && !listening.isClosed()) changed.awaitUninterruptibly();
      return passing == Passing.CUT ? 0 : server;
    } finally {
      lock.unlock();
    }
  }

  private void accept() {
    while (true) {
      try {
        Socket client = listening.accept();
        sockets.add(client);
        Thread.ofVirtual().name("stoa-test-front").start(() -> connect(client));
      } catch (IOException over) {
        if (listening.isClosed()) return;
      }
    }
  }

  private void connect(Socket client) {
    int port = await();
    try {
      if (port == 0) throw new IOException("no server");
      var behind = new Socket(host, port);
      sockets.add(behind);
      Thread.ofVirtual().name("stoa-test-front").start(() -> copy(behind, client));
      copy(client, behind);
    } catch (IOException nobody) {
      end(client);
    }
  }

  private void copy(Socket from, Socket to) {
    var buffer = new byte[BUFFER_BYTES];
    try {
      from.setTcpNoDelay(true);
      var in = from.getInputStream();
      var out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (await() == 0) break;
        out.write(buffer, 0, read);
      }
    } catch (IOException over) {
      // The other direction ends with this one.
    }
    end(from);
    end(to);
  }

  private void endAll() {
    sockets.forEach(this::end);
  }

  private void end(Socket socket) {
    sockets.remove(socket);
    try {
      socket.close();
    } catch (IOException gone) {
      // It is closed all the same.
    }
  }

  @Override
  public void close() {
    try {
      listening.close();
      open();
      endAll();
      accepting.join();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
