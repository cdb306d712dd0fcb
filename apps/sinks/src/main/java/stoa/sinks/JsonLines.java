package stoa.sinks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
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
  private @Nullable LogAddress token;

  // Where the last whole transaction ends in the file.
  private long end;

  /// Opens a file, and cuts off what does not belong to a whole transaction.
  public JsonLines(Path path) throws IOException {
    if (path.toFile().exists()) {
      try (var in = new BufferedInputStream(Files.newInputStream(path))) {
        find(in);
      }
    }
    file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    cut();
  }

  private void find(InputStream in) throws IOException {
    var line = new ByteArrayOutputStream();
    long read = 0;
    for (int next = in.read(); next >= 0; next = in.read()) {
      read++;
      if (next != '\n') {
        line.write(next);
        continue;
      }
      LogAddress whole = whole(line.toString(UTF_8));
      line.reset();
      if (whole == null) continue;
      token = whole;
      end = read;
    }
  }

  private void cut() throws IOException {
    file.truncate(end);
    file.position(end);
  }

  /// Returns the token when a line is the last one of a transaction, or of the present objects.
  private static @Nullable LogAddress whole(String line) {
    Matcher end = END.matcher(line);
    boolean isWhole = end.find() && end.group(2).equals(end.group(3));
    return isWhole ? Envelope.address(end.group(1)) : null;
  }

  /// Returns the log address up to which the file has the changes, or up to which a run found none;
  /// null when it begins with the present objects.
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
    cut(); // an earlier run may have ended within a transaction
    LogAddress known = token;
    Changes<T> from = known == null ? what.fromPresent() : what.after(known);
    long lines = 0;
    try (ChangeStream<T> changes = stoa.changes(from)) {
      for (var next = changes.next(idleMax); next.isPresent(); next = changes.next(idleMax)) {
        lines++;
        LogAddress whole = whole(changes);
        write(next.get(), lines, whole == null ? 0 : lines);
        if (whole == null) continue;
        token = whole;
        end = file.position();
      }
      LogAddress level = whole(changes);
      if (level != null) token = level;
    }
    file.force(true);
    return lines;
  }

  /// Returns the token of a stream; null within a transaction.
  private static @Nullable LogAddress whole(ChangeStream<?> changes) {
    try {
      return changes.token();
    } catch (IllegalStateException more) {
      return null;
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
