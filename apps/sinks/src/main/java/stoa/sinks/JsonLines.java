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
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.Subscription;

/// Appends the changes of objects to a file, a line of JSON each ([Envelope]). Each change is there
/// once: the last whole transaction in the file is the token, and what stands behind it is cut off
/// when the sink begins again. One thread uses it.
///
/// Beside the file, `FILE.token` has a later token for a file of a known length: the log address up
/// to which the sink found no more changes. It counts while the file has this length.
///
/// When the store has released changes behind the token, the present objects follow in the file,
/// and a deletion for each object of the file that is gone.
public final class JsonLines implements AutoCloseable {
  private static final Pattern END =
      Pattern.compile(
          "\"transaction\":\\{\"id\":\"(\\d+:\\d+)\",\"total_order\":(\\d+),\"size\":(\\d+)}}$");
  private static final Pattern MARK = Pattern.compile("(\\d+:\\d+) (\\d+)\\s*");

  private final Path path;
  private final Path mark;
  private final FileChannel file;
  private final Lines lines = new Lines();
  private @Nullable LogAddress token;

  // Where the last whole transaction ends in the file.
  private long end;

  /// Opens a file, and cuts off what does not belong to a whole transaction.
  public JsonLines(Path path) throws IOException {
    this.path = path;
    mark = path.resolveSibling(path.getFileName() + ".token");
    if (path.toFile().exists()) find();
    LogAddress known = token;
    LogAddress marked = marked();
    if (marked != null && (known == null || marked.compareTo(known) > 0)) token = marked;
    file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    cut();
  }

  /// Finds the last whole transaction.
  private void find() throws IOException {
    long[] read = {0};
    forEachLine(
        Long.MAX_VALUE,
        line -> {
          read[0] += line.length + 1;
          LogAddress whole = whole(new String(line, UTF_8));
          if (whole == null) return;
          token = whole;
          end = read[0];
        });
  }

  /// Passes each line that has its end within the first bytes of the file.
  private void forEachLine(long bytesMax, Consumer<byte[]> consumer) throws IOException {
    var line = new ByteArrayOutputStream();
    try (InputStream in = new BufferedInputStream(Files.newInputStream(path))) {
      int next = in.read();
      for (long read = 1; next >= 0 && read <= bytesMax; next = in.read(), read++) {
        if (next != '\n') {
          line.write(next);
          continue;
        }
        consumer.accept(line.toByteArray());
        line.reset();
      }
    }
  }

  /// Returns the token beside the file; null when it is of a file with another length.
  private @Nullable LogAddress marked() throws IOException {
    if (!mark.toFile().exists()) return null;
    Matcher words = MARK.matcher(Files.readString(mark));
    boolean isOfFile = words.matches() && Long.parseLong(words.group(2)) == end;
    return isOfFile ? Envelope.address(words.group(1)) : null;
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
  /// @return how many changes it has written
  public <T> long run(Stoa stoa, Changes<T> what, Duration idleMax)
      throws IOException, InterruptedException {
    return Sink.run(lines, stoa, what, null, idleMax);
  }

  /// Writes changes as [#run(Stoa, Changes, Duration)], and acknowledges what is in the file.
  ///
  /// @param subscription holds the log for this sink; its position is not where the sink begins
  /// @param idleMax ends when no change comes for this time; null for never
  public <T> long run(
      Stoa stoa, Changes<T> what, Subscription subscription, @Nullable Duration idleMax)
      throws IOException, InterruptedException {
    return Sink.run(lines, stoa, what, subscription, idleMax);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  /// The file as a target.
  private final class Lines implements Target<IOException> {
    private Departed departed = new Departed();

    @Override
    public @Nullable LogAddress token() {
      return token;
    }

    @Override
    public void beginSnapshot() throws IOException {
      departed = new Departed();
      forEachLine(end, line -> departed.shown(new String(line, UTF_8)));
    }

    @Override
    public void write(Change<?> change, long order, long size) throws IOException {
      boolean isPresent = change instanceof Change.Present;
      boolean more = isPresent && !departed.present(change);
      append(Json.text(Envelope.of(change, order, more ? 0 : size)));
    }

    @Override
    public void endSnapshot(LogAddress at, long count) throws IOException {
      for (var deletion : departed.deletions(at, count)) append(deletion.envelope());
    }

    private void append(String line) throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(UTF_8));
      while (bytes.hasRemaining()) {
        int _ = file.write(bytes);
      }
    }

    @Override
    public void commit(LogAddress reached) throws IOException {
      file.force(true);
      end = file.position();
      token = reached;
      Path next = mark.resolveSibling(mark.getFileName() + ".next");
      try (var out =
          FileChannel.open(
              next,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        ByteBuffer bytes = ByteBuffer.wrap((reached + " " + end + "\n").getBytes(UTF_8));
        while (bytes.hasRemaining()) {
          int _ = out.write(bytes);
        }
        out.force(true);
      }
      var _ = Files.move(next, mark, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void rollback() throws IOException {
      cut();
    }
  }
}
