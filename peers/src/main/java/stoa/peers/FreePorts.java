package stoa.peers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/// Ports that were free just now, for servers that do not choose one by themselves.
public final class FreePorts {
  private FreePorts() {}

  /// Returns one.
  public static int one() throws IOException {
    return some(1).getFirst();
  }

  /// Returns some, which differ.
  public static List<Integer> some(int count) throws IOException {
    var sockets = new ArrayList<ServerSocket>();
    try {
      for (int i = 0; i < count; i++) {
        sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      }
      return sockets.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : sockets) socket.close();
    }
  }
}
