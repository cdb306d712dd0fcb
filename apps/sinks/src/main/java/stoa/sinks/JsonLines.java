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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Change;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.Subscription;

/// Appends the changes of objects to a file, a line of JSON each ([Envelope]). Each change is there
/// once. One thread uses it.
///
/// Beside the file, `FILE.token` has the token and the length of the file up to which it counts;
/// the disk has both before the store learns of them. The bytes behind this length are cut off when
/// the sink begins again: after a loss of power they may have holes. For a file without its token,
/// and for one in which no transaction ends at this length, the last whole transaction in front of
/// a torn line is the token.
///
/// When the store has released changes behind the token, the present objects follow in the file,
/// and a deletion for each object of the file that is gone.
public final class JsonLines implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JsonLines.class);

  // Earlier versions wrote no data_collection_order.
  private static final Pattern END =
      Pattern.compile(
          "\"transaction\":\\{\"id\":\"(\\d+:\\d+)\",\"total_order\":(\\d+),"
              + "(?:\"data_collection_order\":\\d+,)?\"size\":(\\d+)}}$");
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
    Mark known = marked();
    if (known != null) {
      find(known.length);
      if (end == known.length) token = known.token;
      else known = null; // of another file
    }
    if (known == null) find(Long.MAX_VALUE);
    file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    cut();
  }

  /// The token beside the file.
  ///
  /// @param length of the file up to which it counts
  private record Mark(LogAddress token, long length) {}

  /// Returns the token beside the file; null when there is none.
  private @Nullable Mark marked() throws IOException {
    if (!mark.toFile().exists()) return null;
    Matcher words = MARK.matcher(Files.readString(mark));
    return words.matches()
        ? new Mark(Envelope.address(words.group(1)), Long.parseLong(words.group(2)))
        : null;
  }

  /// Finds the last whole transaction in front of the first torn line.
  ///
  /// @param bytesMax looks at so much of the file
  private void find(long bytesMax) throws IOException {
    token = null;
    end = 0;
    if (!path.toFile().exists()) return;
    long[] read = {0};
    boolean[] torn = {false};
    forEachLine(
        bytesMax,
        line -> {
          torn[0] |= isTorn(line);
          read[0] += line.length + 1;
          LogAddress whole = torn[0] ? null : whole(new String(line, UTF_8));
          if (whole == null) return;
          token = whole;
          end = read[0];
        });
  }

  /// Returns whether a line has a character that JSON writes as an escape, such as the zeros of a
  /// hole.
  private static boolean isTorn(byte[] line) {
    for (byte one : line) if (one >= 0 && one < ' ') return true;
    return false;
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
    public void write(Change<?> change, Order.Place place, Envelope envelopes) throws IOException {
      boolean isPresent = change instanceof Change.Present;
      boolean more = isPresent && !departed.present(change);
      append(Json.text(envelopes.of(change, more ? place.open() : place)));
    }

    @Override
    public void endSnapshot(LogAddress at, Order order, Envelope envelopes) throws IOException {
      for (var deletion : departed.deletions(at, order, envelopes)) append(deletion.envelope());
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
      syncNames();
    }

    /// Makes the names of both files durable, on file systems that let a directory be synced.
    private void syncNames() {
      Path folder = path.toAbsolutePath().getParent();
      try (var names = FileChannel.open(folder, StandardOpenOption.READ)) {
        names.force(true);
      } catch (IOException unsupported) {
        LOG.debug("the names in {} were not synced", folder, unsupported);
      }
    }

    @Override
    public void rollback() throws IOException {
      cut();
    }
  }
}
