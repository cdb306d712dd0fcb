package stoa.raft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Repeats;

/// The index up to which each member of a group has had the log, as far as this node knows. The
/// node keeps these numbers in a file in the group's folder, which outlives the process.
///
/// A number never decreases: a member that comes back with less was restored from an older copy.
/// Thread-safe.
public final class Acknowledged {
  /*
   * The file: "STOAACKD" i64, CRC-32C of the rest i64, its length i64, and then the count of
   * members, and of each its text as Member writes it and its index plus one. The node writes it in
   * place without a sync. A killed process leaves it whole. A power loss leaves an older file, or a
   * damaged one, which counts as none: then the node knows less.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Acknowledged.class);
  private static final long MAGIC = 0x53544f4141434b44L; // STOAACKD
  private static final int HEADER = 24;
  private static final int BYTES_MAX = 1 << 20;

  /// The knowledge of one member.
  private record Known(Member member, long index) {}

  private final Path file;
  private final Repeats repeats = new Repeats();

  // Guarded by this.
  private final TreeMap<String, Known> members = new TreeMap<>();
  private boolean changed;

  // Held while the file is written, which may take long; the monitor is not.
  private final ReentrantLock writing = new ReentrantLock();
  private final AtomicBoolean due = new AtomicBoolean();

  /// Reads what an earlier process has left in a file.
  public Acknowledged(Path file) {
    this.file = file;
    try {
      if (Files.exists(file)) read(Files.readAllBytes(file));
    } catch (IOException | Decoder.MalformedException | IllegalArgumentException damaged) {
      members.clear();
      LOG.warn("{} cannot be read and counts as empty: {}", file, damaged.toString());
    }
  }

  private void read(byte[] bytes) throws IOException {
    if (bytes.length < HEADER) throw new IOException("it has " + bytes.length + " bytes");
    ByteBuffer header = ByteBuffer.wrap(bytes);
    boolean own = header.getLong() == MAGIC;
    long sum = header.getLong();
    long length = header.getLong();
    if (!own || length < 0 || length > bytes.length - HEADER) {
      throw new IOException("it is no such file");
    }
    if (sum(bytes, (int) length) != sum) throw new IOException("its checksum is wrong");
    var in = new Decoder(bytes, HEADER, HEADER + (int) length);
    for (int left = in.count(); left > 0; left--) {
      var member = Member.of(in.text());
      members.put(member.id(), new Known(member, in.varint() - 1));
    }
  }

  private static long sum(byte[] bytes, int length) {
    var sum = new CRC32C();
    sum.update(bytes, HEADER, length);
    return sum.getValue();
  }

  /// Returns the members that were known last.
  public synchronized List<Member> members() {
    return members.values().stream().map(Known::member).toList();
  }

  /// Returns the index of Raft's log up to which a member has had the log; -1 when nothing is
  /// known.
  public synchronized long of(String member) {
    Known known = members.get(member);
    return known == null ? -1 : known.index();
  }

  /// Notes the members' progress, and forgets the members that have left.
  ///
  /// @param now the members of the group
  /// @param heard the index up to which each has the log
  public synchronized void note(Collection<Member> now, Map<String, Long> heard) {
    if (now.isEmpty()) return; // the node does not know them yet
    var next = new TreeMap<String, Known>();
    for (Member member : now) {
      long index = Math.max(of(member.id()), heard.getOrDefault(member.id(), -1L));
      next.put(member.id(), new Known(member, index));
    }
    if (next.equals(members)) return;
    members.clear();
    members.putAll(next);
    changed = true;
  }

  /// Schedules a write of the file, if anything has changed. Does not wait for the disk; at most
  /// one write is scheduled.
  public void keepSoon(Executor background) {
    if (!isChanged() || !due.compareAndSet(false, true)) return;
    background.execute(() -> {
      due.set(false);
      keep();
    });
  }

  private synchronized boolean isChanged() {
    return changed;
  }

  /// Writes the file, if anything has changed.
  public void keep() {
    Path directory = file.getParent();
    if (directory == null || !Files.isDirectory(directory)) return;
    writing.lock();
    try {
      byte[] bytes = changes();
      if (bytes != null) write(bytes);
    } catch (IOException failed) {
      synchronized (this) {
        changed = true;
      }
      repeats.tell(file + " cannot be written: " + failed, LOG::warn);
    } finally {
      writing.unlock();
    }
  }

  private synchronized byte @Nullable [] changes() throws IOException {
    if (!changed) return null;
    changed = false;
    var out = new Encoder(256).raw(new byte[HEADER]).varint(members.size());
    for (Known known : members.values()) {
      out.text(known.member().toString()).varint(known.index() + 1);
    }
    byte[] bytes = out.toBytes();
    if (bytes.length > BYTES_MAX) throw new IOException("it would have " + bytes.length + " bytes");
    int length = bytes.length - HEADER;
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    buffer.putLong(0, MAGIC).putLong(8, sum(bytes, length)).putLong(16, length);
    return bytes;
  }

  private void write(byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    try (var channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      while (buffer.hasRemaining()) {
        int at = buffer.position();
        var _ = channel.write(buffer, at);
      }
    }
  }
}
