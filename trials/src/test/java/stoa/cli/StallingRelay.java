package stoa.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// A network between clients and a server, through which for a while nothing comes back: as if the
/// clients did not read.
final class StallingRelay implements AutoCloseable {
  private static final int BUFFER_BYTES = 16 << 10;

  private final ServerSocket listening;
  private final int target;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition goesOn = lock.newCondition();
  private boolean stalls; // guarded by lock

  StallingRelay(int target) throws IOException {
    this.target = target;
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  String url() {
    return "stoa://127.0.0.1:" + listening.getLocalPort();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        var server = new Socket(InetAddress.getLoopbackAddress(), target);
        Thread.ofVirtual().start(() -> pass(client, server, false));
        Thread.ofVirtual().start(() -> pass(server, client, true));
      } catch (IOException closed) {
        // The loop looks.
      }
    }
  }

  private void pass(Socket from, Socket to, boolean mayStall) {
    var buffer = new byte[BUFFER_BYTES];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read; (read = in.read(buffer)) >= 0; ) {
        if (mayStall) awaitPassage();
        out.write(buffer, 0, read);
      }
    } catch (IOException cut) {
      // The other end learns it.
    }
  }

  private void awaitPassage() {
    lock.lock();
    try {
      while (stalls) goesOn.awaitUninterruptibly();
    } finally {
      lock.unlock();
    }
  }

  /// From now on nothing comes back, or all comes again.
  void stall(boolean now) {
    lock.lock();
    try {
      stalls = now;
      goesOn.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    stall(false);
    listening.close();
  }
}
