package stoa.bench.machine;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import stoa.bench.load.Load;
import stoa.programs.BackgroundProcess;

/// The limits of the loopback device itself: a process that echoes the bytes from a socket, and
/// does nothing else.
public final class LoopbackLimits implements AutoCloseable {
  /// The bytes of a message, near those of a small call.
  static final int MESSAGE_BYTES = 64;

  private static final String LISTENING = "listening on port ";

  private final BackgroundProcess echo;
  private final Socket socket;
  private final OutputStream out;
  private final DataInputStream in;

  private LoopbackLimits(BackgroundProcess echo, Socket socket) throws IOException {
    this.echo = echo;
    this.socket = socket;
    socket.setTcpNoDelay(true);
    out = socket.getOutputStream();
    in = new DataInputStream(socket.getInputStream());
  }

  /// Starts the process and connects.
  public static LoopbackLimits start() throws Exception {
    var echo =
        BackgroundProcess.java(LoopbackLimits.class.getName(), List.of("-Xmx64m"), List.of());
    try {
      int port = Integer.parseInt(echo.await(LISTENING));
      return new LoopbackLimits(echo, new Socket(InetAddress.getLoopbackAddress(), port));
    } catch (Exception e) {
      echo.close();
      throw e;
    }
  }

  /// One caller sends a message and waits for its echo, again and again; or several messages at a
  /// time, which count as one turn.
  public Load.Seen roundTrips(int messages, Load load) throws Exception {
    byte[] bytes = new byte[messages * MESSAGE_BYTES];
    return load.run((_, _) -> {
      out.write(bytes);
      in.readFully(bytes);
    });
  }

  @Override
  public void close() throws IOException {
    try (echo) {
      socket.close();
    }
  }

  /// The process that echoes the bytes of one connection.
  public static void main(String[] arguments) throws IOException {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      System.out.println(LISTENING + server.getLocalPort());
      try (var socket = server.accept()) {
        socket.setTcpNoDelay(true);
        byte[] bytes = new byte[1 << 16];
        var in = socket.getInputStream();
        var out = socket.getOutputStream();
        for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) out.write(bytes, 0, n);
      }
    }
  }
}
