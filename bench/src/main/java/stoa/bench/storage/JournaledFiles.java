package stoa.bench.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Files behind a journal, as Ceph's ObjectStore kept its objects: it appends a write to a journal
/// that all writes share, and then applies it to the object's file, which it syncs later. It never
/// trims the journal while a sample runs, as in the paper.
final class JournaledFiles implements Contender {
  private static final int BATCH_BYTES_MAX = 8 << 20;

  // The folder of the journal; null for that of the files.
  private final @Nullable Path apart;

  /// Creates the contender whose journal is beside its files.
  JournaledFiles() {
    apart = null;
  }

  /// Creates the contender whose journal is in another folder, on a device of its own, as in the
  /// second configuration of the VOSD paper.
  JournaledFiles(Path journal) {
    apart = journal;
  }

  @Override
  public String name() {
    return apart == null ? "journal" : "journal apart";
  }

  @Override
  public String how() {
    return "write-ahead journal (direct, shared fdatasync), then the file through the page cache"
        + (apart == null ? "" : "; the journal on a device of its own");
  }

  @Override
  public Store open(Path folder) throws IOException {
    Path other = apart;
    return new Journaled(folder, other == null ? folder : Files.createDirectories(other));
  }

  /// A write in the journal: its destination, and its bytes.
  private record Entry(long place, ByteBuffer data) {}

  private static final class Journaled implements Store {
    private static final int HEADER = 16;

    private final DirectFile file;
    private final DirectFile values;
    private final DirectFile journal;
    private final Path journalPath;
    private final ByteBuffer staging =
        Content.aligned(BATCH_BYTES_MAX + (64 << 10)); // the leader's
    private final Group<Entry> group = new Group<>(4096, this::append);
    private long end; // the leader's

    Journaled(Path folder, Path journalFolder) throws IOException {
      journalPath = journalFolder.resolve("journal");
      file = new DirectFile(folder.resolve("object"));
      values = new DirectFile(folder.resolve("values"));
      journal = new DirectFile(journalPath);
    }

    @Override
    public void write(long offset, ByteBuffer data) throws Exception {
      group.join(new Entry(offset, data.duplicate()));
      file.writeCached(offset, data);
    }

    @Override
    public void read(long offset, ByteBuffer target) throws IOException {
      file.read(offset, target);
    }

    @Override
    public void put(long key, ByteBuffer value) throws Exception {
      group.join(new Entry(~key, value.duplicate()));
      values.writeCached(key * value.remaining(), value);
    }

    private void append(List<Entry> batch) throws IOException {
      staging.clear();
      for (Entry entry : batch) {
        if (staging.position() > 0
            && staging.position() + HEADER + entry.data.remaining() > BATCH_BYTES_MAX) flush();
        staging.putLong(entry.place).putLong(entry.data.remaining()).put(entry.data);
      }
      flush();
      journal.force();
    }

    private void flush() throws IOException {
      staging.limit((int) Content.rounded(staging.position())).position(0);
      int bytes = staging.remaining();
      journal.write(end, staging);
      end += bytes;
      staging.clear();
    }

    @Override
    public void settle() throws IOException {
      file.force();
      values.force();
    }

    @Override
    public void close() throws IOException {
      settle();
      file.close();
      values.close();
      journal.close();
      Files.delete(journalPath); // the files have everything
    }
  }
}
