package stoa.traces;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/// A network between a client and a server, whose connections a test cuts.
final class Relay implements AutoCloseable {
  private final ServerSocket listening;
  private final int target;
  private final List<Socket> sockets = new ArrayList<>(); // guarded by this

  Relay(int target) throws IOException {
    this.target = target;
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        var server = new Socket(InetAddress.getLoopbackAddress(), target);
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

  private static void pass(Socket from, Socket to) {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException cut) {
      // The other end learns it.
    }
  }

  /// Cuts all connections; later ones live.
  synchronized void cut() throws IOException {
    for (Socket socket : sockets) socket.close();
    sockets.clear();
  }

  @Override
  public void close() throws IOException {
    listening.close();
    cut();
  }
}
