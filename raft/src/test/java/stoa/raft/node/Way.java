package stoa.raft.node;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/// The way to a port, on which whoever comes can be held up.
final class Way implements AutoCloseable {
  private final InetAddress host = InetAddress.getLoopbackAddress();
  private final ServerSocket listening;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile int to;
  private volatile CountDownLatch gate = new CountDownLatch(0);
  private volatile boolean held;

  Way() {
    try {
      listening = new ServerSocket(0, 16, host);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  void leadsTo(int port) {
    to = port;
  }

  /// Holds up who comes from now on.
  void close(CountDownLatch until) {
    gate = until;
  }

  /// Whether somebody was held up.
  boolean holds() {
    return held;
  }

  private void accept() {
    try {
      while (true) {
        Socket from = listening.accept();
        open.add(from);
        Thread.ofVirtual().start(() -> forward(from));
      }
    } catch (IOException closed) {
      // It was.
    }
  }

  private void forward(Socket from) {
    try (from) {
      if (gate.getCount() > 0) held = true;
      gate.await();
      try (var there = new Socket(host, to)) {
        open.add(there);
        Thread.ofVirtual().start(() -> copy(there, from));
        copy(from, there);
      }
    } catch (IOException gone) {
      // One of the ends is.
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void copy(Socket from, Socket to) {
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      in.transferTo(out);
    } catch (IOException gone) {
      // One of the ends is.
    }
  }

  @Override
  public void close() {
    try {
      listening.close();
      for (Socket socket : open) socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
