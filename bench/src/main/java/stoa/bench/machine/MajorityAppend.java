package stoa.bench.machine;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import stoa.bench.load.Load;
import stoa.programs.BackgroundProcess;

/// The limit of one caller of a replicated store: a bare append to the disks of a majority.
///
/// A client's message goes to a leader over the loopback device. The leader sends it to two
/// followers, appends it to its own file and forces that, and answers when the first follower has
/// done the same. Each of the three is a process of its own with blocking sockets. The files are
/// written in full before, so that their sizes and blocks stay as they are.
///
/// One thread uses it. Its owner closes it.
public final class MajorityAppend implements AutoCloseable {
  private static final String LISTENING = "listening on port ";
  private static final int RECORD_BYTES = GroupCommit.RECORD_BYTES;
  private static final int FILE_BYTES = 16 << 20;

  private final List<BackgroundProcess> processes;
  private final Socket socket;
  private final OutputStream out;
  private final DataInputStream in;

  private MajorityAppend(List<BackgroundProcess> processes, Socket socket) throws IOException {
    this.processes = processes;
    this.socket = socket;
    out = socket.getOutputStream();
    in = new DataInputStream(socket.getInputStream());
  }

  /// Starts three processes and connects.
  ///
  /// @param folder for their files, which [#close] deletes
  public static MajorityAppend start(Path folder) throws Exception {
    var processes = new ArrayList<BackgroundProcess>();
    try {
      var followers = new ArrayList<String>();
      for (int i = 1; i < 3; i++) {
        processes.add(process(folder.resolve("limit-majority-" + i), List.of()));
        followers.add(processes.getLast().await(LISTENING));
      }
      processes.add(process(folder.resolve("limit-majority-0"), followers));
      int port = Integer.parseInt(processes.getLast().await(LISTENING));
      return new MajorityAppend(processes, connect(port));
    } catch (Exception e) {
      processes.forEach(BackgroundProcess::close);
      throw e;
    }
  }

  private static BackgroundProcess process(Path file, List<String> followers) throws IOException {
    var arguments = new ArrayList<String>();
    arguments.add(file.toString());
    arguments.addAll(followers);
    return BackgroundProcess.java(MajorityAppend.class.getName(), List.of("-Xmx64m"), arguments);
  }

  private static Socket connect(int port) throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    return socket;
  }

  /// One caller appends a record and waits for the answer, again and again.
  public Load.Seen appends(Load load) throws Exception {
    byte[] record = new byte[RECORD_BYTES];
    return load.run((_, _) -> {
      out.write(record);
      in.readFully(record);
    });
  }

  @Override
  public void close() throws IOException {
    try (socket) {
      processes.reversed().forEach(BackgroundProcess::close);
    }
  }

  /// The process of a leader, or of a follower.
  ///
  /// @param arguments the file; then the ports of the followers, for a leader
  public static void main(String[] arguments) throws IOException {
    var followers = new ArrayList<Socket>();
    for (int i = 1; i < arguments.length; i++) {
      followers.add(connect(Integer.parseInt(arguments[i])));
    }
    Path path = Path.of(arguments[0]);
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var file =
            FileChannel.open(
                path,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE)) {
      fill(file);
      System.out.println(LISTENING + server.getLocalPort());
      try (var socket = server.accept()) {
        socket.setTcpNoDelay(true);
        serve(socket, file, followers);
      }
    } finally {
      Files.deleteIfExists(path);
    }
  }

  private static void fill(FileChannel file) throws IOException {
    var zeros = ByteBuffer.allocateDirect(1 << 20);
    for (int i = 0; i < FILE_BYTES >> 20; i++) {
      while (zeros.hasRemaining()) file.write(zeros);
      zeros.clear();
    }
    file.force(true);
  }

  private static void serve(Socket socket, FileChannel file, List<Socket> followers)
      throws IOException {
    var in = socket.getInputStream();
    byte[] record = new byte[RECORD_BYTES];
    byte[] answer = new byte[RECORD_BYTES];
    var buffer = ByteBuffer.allocateDirect(RECORD_BYTES);
    for (long position = 0; in.readNBytes(record, 0, RECORD_BYTES) == RECORD_BYTES; ) {
      for (Socket follower : followers) follower.getOutputStream().write(record);
      buffer.clear().put(record).flip();
      while (buffer.hasRemaining()) file.write(buffer, position + buffer.position());
      file.force(false);
      position = (position + RECORD_BYTES) % FILE_BYTES;
      for (Socket follower : followers) {
        var answers = follower.getInputStream();
        // The leader does not wait for the second follower: two of three are a majority.
        if (follower.equals(followers.getFirst())) {
          if (answers.readNBytes(answer, 0, RECORD_BYTES) < RECORD_BYTES) return;
        } else {
          answers.skipNBytes(answers.available());
        }
      }
      socket.getOutputStream().write(record);
    }
  }
}
