package stoa.sinks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;

/// Appends the changes of objects to a file, a line of JSON each ([Envelope]). Each change is there
/// once: the last whole transaction in the file is the token, and what stands behind it is cut off
/// when the sink begins again. One thread uses it.
public final class JsonLines implements AutoCloseable {
  private static final Pattern END =
      Pattern.compile(
          "\"transaction\":\\{\"id\":\"(\\d+:\\d+)\",\"total_order\":(\\d+),\"size\":(\\d+)}}$");

  private final FileChannel file;
  private final @Nullable LogAddress token;

  /// Opens a file, and cuts off what does not belong to a whole transaction.
  public JsonLines(Path path) throws IOException {
    long end = 0;
    LogAddress last = null;
    if (path.toFile().exists()) {
      try (var in = new RandomAccessFile(path.toFile(), "r")) {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
          long behind = in.getFilePointer();
          if (!endsLine(in, behind)) break;
          LogAddress whole = whole(line);
          if (whole == null) continue;
          last = whole;
          end = behind;
        }
      }
    }
    file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    file.truncate(end);
    file.position(end);
    token = last;
  }

  private static boolean endsLine(RandomAccessFile in, long behind) throws IOException {
    in.seek(behind - 1);
    return in.read() == '\n';
  }

  /// Returns the token when a line is the last one of a transaction, or of the present objects.
  private static @Nullable LogAddress whole(String line) {
    Matcher end = END.matcher(line);
    boolean isWhole = end.find() && end.group(2).equals(end.group(3));
    return isWhole ? Envelope.address(end.group(1)) : null;
  }

  /// Returns the log address up to which the file has the changes; null when it begins with the
  /// present objects.
  public @Nullable LogAddress token() {
    return token;
  }

  /// Writes changes until none comes for a time: from the token of the file on, or first the
  /// present objects.
  ///
  /// @param idleMax the time
  /// @return how many lines it has written
  public <T> long run(Stoa stoa, Changes<T> what, Duration idleMax)
      throws IOException, InterruptedException {
    LogAddress known = token;
    Changes<T> from = known == null ? what.fromPresent() : what.after(known);
    long lines = 0;
    try (ChangeStream<T> changes = stoa.changes(from)) {
      for (var next = changes.next(idleMax); next.isPresent(); next = changes.next(idleMax)) {
        lines++;
        write(next.get(), lines, isWhole(changes) ? lines : 0);
      }
    }
    file.force(true);
    return lines;
  }

  private static boolean isWhole(ChangeStream<?> changes) {
    try {
      var _ = changes.token();
      return true;
    } catch (IllegalStateException more) {
      return false;
    }
  }

  private void write(Change<?> change, long order, long size) throws IOException {
    String line = Json.text(Envelope.of(change, order, size)) + "\n";
    ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(UTF_8));
    while (bytes.hasRemaining()) {
      int _ = file.write(bytes);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
