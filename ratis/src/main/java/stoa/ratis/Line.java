package stoa.ratis;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;

/// A connection to another node, which answers there what is asked here. One owner.
public final class Line implements AutoCloseable {
  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;

  Line(Sockets sockets, Member to) throws IOException {
    socket = sockets.connect(to);
    try {
      in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
      out.writeLong(SupplyPort.LINE);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /// Asks, and waits for the answer.
  ///
  /// @throws IOException when there is none in time: what the other end does, or did, is not known,
  ///   and the line is to be closed
  public byte[] ask(byte[] question, Duration patience) throws IOException {
    socket.setSoTimeout(Math.toIntExact(patience.toMillis()));
    write(out, question);
    return read(in);
  }

  static void write(DataOutputStream out, byte[] text) throws IOException {
    out.writeInt(text.length);
    out.write(text);
    out.flush();
  }

  static byte[] read(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > SupplyPort.LINE_BYTES_MAX) {
      throw new IOException("a question or answer of " + length + " bytes");
    }
    byte[] text = new byte[length];
    in.readFully(text);
    return text;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
