package stoa.node;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/// A port whose connections go on to a server from another address of this machine. Closing it ends
/// them.
final class Relay implements AutoCloseable {
  private final ServerSocket port;
  private final InetAddress from;
  private final int server;

  Relay(String from, int server) throws IOException {
    this.from = InetAddress.getByName(from);
    this.server = server;
    port = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return port.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Socket near = port.accept();
        var far = new Socket();
        far.bind(new InetSocketAddress(from, 0));
        far.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server));
        Thread.ofVirtual().start(() -> pass(near, far));
        Thread.ofVirtual().start(() -> pass(far, near));
      }
    } catch (IOException closed) {
      // Its owner has closed it.
    }
  }

  private static void pass(Socket in, Socket out) {
    try (in;
        out) {
      var _ = in.getInputStream().transferTo(out.getOutputStream());
    } catch (IOException over) {
      // Both ends learn that the connection is closed.
    }
  }

  @Override
  public void close() throws IOException {
    port.close();
  }
}
