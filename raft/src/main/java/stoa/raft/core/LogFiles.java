package stoa.raft.core;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.log.Position;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.DiskFull;

/// The log of a member in files of its own.
final class LogFiles implements LogMedium {
  /*
   * Files log-N, numbered from 1 and ascending; the records follow on across them. A file:
   *
   *   "STOARAFT" i64, version i64, N i64, and the length i64 of the file before; 0 when this one needs none
   *   records: length of the body i32, CRC-32C i32, body
   *
   * The CRC is that of N, 8 bytes, and the body; in a file of version 1, that of the body alone.
   *
   *   body    kind u8, then
   *   1       state: term varint, vote text (empty for none), voting u8, index varint at which this member was
   *           added (0 when that is unknown), index and term of the position before the log, both
   *           varint, and members as in Codec
   *   2       an entry as in Codec
   *   3       the entries from an index on are void: varint
   *   4       the position before the log, as in a state, and whether all later entries are void: u8
   *   5       term varint, vote text
   *   6       the file has begun: nothing
   *
   * A file begins with a state, and with all entries if it needs no file before it. It counts from
   * record 6 on. Earlier files go when all their entries are at or before the position. One of them
   * stays as the file `spare`, and becomes the next file: a sync of it is cheap, as it does not grow,
   * and it is not filled with zeros. Its old records count for nothing under another N.
   *
   * An opener writes all that it has found into a new file, and removes the others: what it found may
   * be in the system's cache only, where the sync that failed has left it, and no later sync writes
   * it. An invalid record in the last file counts as its end, since nothing after it was synced (or a
   * bit has rotted in the last batches, for which no later file vouches). A damaged record in
   * another file is corruption.
   *
   * Invariants:
   * (1) The entries after the position are consecutive, and their terms do not fall.
   * (2) What this opener found is durable before it is used.
   * (3) The directory has the new name of a spare file durably before a byte of it changes: so no
   *     earlier name of it comes back with other contents.
   * (4) A write to a spare file ends at the end of a page: the system need not read the page first.
   */
  private static final long MAGIC = 0x53544f4152414654L; // STOARAFT
  private static final long UNNUMBERED = 1; // the version of files whose records do not have N
  private static final long VERSION = 2;
  private static final int HEADER = 32;
  private static final int RECORD = 8;
  private static final String NAME = "log-";
  private static final String SPARE = "spare";

  private static final int STATE = 1;
  private static final int ENTRY = 2;
  private static final int VOID = 3;
  private static final int POSITION = 4;
  private static final int TERM = 5;
  private static final int BEGUN = 6;

  // How far ahead room is reserved.
  private static final int AHEAD = 1 << 20;

  private static final int PAGE = 4 << 10;
  private static final byte[] ZEROS = new byte[PAGE];

  private final Disk disk;
  private final Disk.Hold hold;
  private final long fileBytesMax;
  private final Encoder pending = new Encoder(64 << 10);
  private final Encoder body = new Encoder(1 << 10);
  private final CRC32C sum = new CRC32C();

  // The earlier files, with the highest index of an entry in each.
  private final TreeMap<Long, Long> earlier = new TreeMap<>();

  private DiskFile file;
  private long number;
  private long end;
  private long size;
  // The highest index of an entry in the present file.
  private long highest;
  private boolean unsynced;
  private boolean hasSpare;
  // Whether the present file was the spare one.
  private boolean isReused;
  private int reused;

  /// Begins a first file with contents, durably, in place of all that the disk has.
  ///
  /// @param hold of the disk, which these files close
  /// @param fileBytesMax the size after which a file is followed by another one
  LogFiles(Disk disk, Disk.Hold hold, Contents contents, long fileBytesMax) throws IOException {
    this.disk = disk;
    this.hold = hold;
    this.fileBytesMax = fileBytesMax;
    List<Long> found = numbers(disk);
    number = found.isEmpty() ? 0 : found.getLast();
    file = next(0, contents.head(), contents.items());
    for (long old : found) disk.delete(name(old));
    if (disk.list().contains(SPARE)) disk.delete(SPARE);
  }

  // ---- finding

  /// Returns whether a disk has a log.
  ///
  /// @throws IOException when it cannot be read
  static boolean exists(Disk disk) throws IOException {
    return !numbers(disk).isEmpty();
  }

  /// Deletes the files of a log.
  static void delete(Disk disk) throws IOException {
    for (String name : disk.list()) {
      if (name.startsWith(NAME) || name.equals(SPARE)) disk.delete(name);
    }
    disk.syncDirectory();
  }

  private static List<Long> numbers(Disk disk) throws IOException {
    var numbers = new ArrayList<Long>();
    for (String name : disk.list()) {
      if (name.startsWith(NAME)) numbers.add(Long.parseLong(name.substring(NAME.length()), 16));
    }
    numbers.sort(null);
    // Some of a group of removed files may have come back.
    for (int i = numbers.size() - 1; i > 0; i--) {
      if (numbers.get(i - 1) != numbers.get(i) - 1) return numbers.subList(i, numbers.size());
    }
    return numbers;
  }

  private static String name(long number) {
    return NAME + "%016x".formatted(number);
  }

  private static byte[] read(Disk disk, long number) throws IOException {
    try (DiskFile file = disk.open(name(number))) {
      long size = file.size();
      if (size > Integer.MAX_VALUE - RECORD) throw new IOException(file.name() + " is too large");
      ByteBuffer all = ByteBuffer.allocate((int) size);
      while (all.hasRemaining()) {
        if (file.read(all.position(), all) < 0) throw new EOFException(file.name());
      }
      return all.array();
    }
  }

  /// Returns what a disk has; null for nothing.
  ///
  /// @throws Corrupt when it is damaged
  /// @throws IOException when the disk fails
  static @Nullable Contents find(Disk disk) throws IOException {
    List<Long> numbers = numbers(disk);
    var files = new ArrayList<byte[]>();
    for (long number : numbers) files.add(read(disk, number));
    int end = files.size();
    // A file that was being begun.
    if (end > 0 && !isBegun(files.get(end - 1), numbers.get(end - 1))) end--;
    if (end == 0) {
      for (long number : numbers) disk.delete(name(number));
      return null;
    }
    int begin = end - 1;
    while (begin > 0 && before(files.get(begin)) > 0) begin--;
    var reading = new Reading(disk);
    for (int i = begin; i < end; i++) {
      boolean isLast = i == end - 1;
      long until = isLast ? files.get(i).length : before(files.get(i + 1));
      reading.file(numbers.get(i), files.get(i), until, isLast);
    }
    return reading.found();
  }

  /// Returns the length of the file before a file; 0 when it needs none.
  private static long before(byte[] file) {
    return file.length < HEADER ? 0 : ByteBuffer.wrap(file).getLong(24);
  }

  private static boolean isBegun(byte[] file, long number) {
    if (file.length < HEADER + RECORD) return false;
    ByteBuffer header = ByteBuffer.wrap(file);
    if (header.getLong(0) != MAGIC || header.getLong(16) != number) return false;
    long salt = salt(header);
    int at = HEADER;
    while (true) {
      Decoder in = body(file, at, file.length, salt);
      if (in == null) return false;
      at = in.end();
      if (in.u8() == BEGUN) return true;
    }
  }

  /// Returns the number that is part of the checksums in a file; 0 for none.
  private static long salt(ByteBuffer header) {
    return header.getLong(8) == UNNUMBERED ? 0 : header.getLong(16);
  }

  private static int checksum(CRC32C sum, long salt, byte[] bytes, int at, int length) {
    sum.reset();
    if (salt != 0) sum.update(ByteBuffer.allocate(Long.BYTES).putLong(salt).flip());
    sum.update(bytes, at, length);
    return (int) sum.getValue();
  }

  /// Returns the body of the record at a place; null when there is none, or a torn one.
  private static @Nullable Decoder body(byte[] file, int at, long until, long salt) {
    if (at + RECORD > until) return null;
    ByteBuffer header = ByteBuffer.wrap(file);
    int length = header.getInt(at);
    if (length <= 0 || length > until - at - RECORD) return null;
    int expected = checksum(new CRC32C(), salt, file, at + RECORD, length);
    if (expected != header.getInt(at + 4)) return null;
    return new Decoder(file, at + RECORD, at + RECORD + length);
  }

  /// Reads the files, one after the other.
  private static final class Reading {
    private final Disk disk;
    private final ArrayList<RaftEntry> items = new ArrayList<>();
    private LogHead head = LogHead.NONE;

    Reading(Disk disk) {
      this.disk = disk;
    }

    void file(long number, byte[] file, long until, boolean isLast) {
      ByteBuffer header = ByteBuffer.wrap(file);
      long version = file.length < HEADER ? 0 : header.getLong(8);
      boolean isKnown = version == VERSION || version == UNNUMBERED;
      if (!isKnown || !isBegun(file, number) || until > file.length) throw damaged(number, 0);
      long salt = salt(header);
      int at = HEADER;
      while (at < until) {
        Decoder in = body(file, at, until, salt);
        if (in == null) {
          if (isLast) break;
          throw damaged(number, at);
        }
        try {
          record(in);
        } catch (Decoder.MalformedException | IllegalArgumentException unreadable) {
          throw damaged(number, at);
        }
        at = in.end();
      }
    }

    private void record(Decoder in) {
      switch (in.u8()) {
        case STATE -> head = LogHead.read(in);
        case ENTRY -> {
          RaftEntry item = Codec.entry(in);
          if (!items.isEmpty() && item.index() != items.getLast().index() + 1) {
            throw new IllegalArgumentException("a gap before " + item.index());
          }
          items.add(item);
        }
        case VOID -> voidFrom(in.varint());
        case POSITION -> {
          head = head.readPosition(in);
          if (in.u8() == 1) items.clear();
        }
        case TERM -> head = head.readTerm(in);
        case BEGUN -> {
          // The rest was written later.
        }
        default -> throw new IllegalArgumentException("a record of an unknown kind");
      }
    }

    private void voidFrom(long index) {
      while (!items.isEmpty() && items.getLast().index() >= index) items.removeLast();
    }

    Contents found() {
      Position position = head.position();
      items.removeIf(item -> item.index() <= position.index());
      if (!items.isEmpty() && items.getFirst().index() != position.index() + 1) {
        throw new Corrupt(
            "the log in "
                + disk.place()
                + " lacks the entries between "
                + position.index()
                + " and "
                + items.getFirst().index()
                + "; drain this server, and start a new one in an empty directory");
      }
      return new Contents(head, List.of(), items);
    }

    private Corrupt damaged(long number, long at) {
      return new Corrupt(
          "%s in %s is damaged at byte %d; drain this server, and start a new one in an empty directory"
              .formatted(name(number), disk.place(), at));
    }
  }

  // ---- writing

  /// Begins a file, durably.
  ///
  /// @param before the length of the file before; 0 when it is not needed
  /// @param all all entries, if it is not
  private DiskFile next(long before, LogHead head, List<RaftEntry> all) throws IOException {
    number++;
    isReused = hasSpare;
    DiskFile begun = hasSpare ? reuse() : disk.create(name(number));
    try {
      size = begun.size();
      ByteBuffer header = ByteBuffer.allocate(HEADER);
      header.putLong(MAGIC).putLong(VERSION).putLong(number).putLong(before);
      begun.write(0, header.flip());
      end = HEADER;
      highest = 0;
      head(head);
      for (RaftEntry item : all) {
        entry(item);
        if (pending.size() > AHEAD) write(begun);
      }
      body.clear().u8(BEGUN);
      record();
      write(begun);
      size = Math.max(end, begun.size());
      begun.sync();
      disk.syncDirectory();
      return begun;
    } catch (IOException e) {
      begun.close();
      throw e;
    }
  }

  /// Makes the spare file the next one.
  private DiskFile reuse() throws IOException {
    disk.rename(SPARE, name(number));
    hasSpare = false;
    disk.syncDirectory();
    reused++;
    return disk.open(name(number));
  }

  @Override
  public int reused() {
    return reused;
  }

  private void write(DiskFile to) throws IOException {
    long next = end + pending.size();
    if (isReused) {
      long page = Math.min((next + PAGE - 1) & -PAGE, size);
      if (page > next) pending.raw(ZEROS, 0, (int) (page - next));
    }
    to.write(end, ByteBuffer.wrap(pending.array(), 0, pending.size()));
    end = next;
    pending.clear();
  }

  @Override
  public void entry(RaftEntry entry) {
    body.clear().u8(ENTRY);
    Codec.entry(entry, body);
    record();
    highest = Math.max(highest, entry.getIndex());
  }

  @Override
  public void head(LogHead head) {
    body.clear().u8(STATE);
    head.write(body);
    record();
  }

  @Override
  public void term(LogHead head) {
    body.clear().u8(TERM);
    head.writeTerm(body);
    record();
  }

  @Override
  public void position(LogHead head) {
    position(head, 0);
  }

  @Override
  public void positionAlone(LogHead head) {
    position(head, 1);
  }

  private void position(LogHead head, int voids) {
    body.clear().u8(POSITION);
    head.writePosition(body);
    body.u8(voids);
    record();
  }

  @Override
  public void cut(long from) {
    body.clear().u8(VOID).varint(from);
    record();
  }

  /// Adds the body as a record to what is written next.
  private void record() {
    ByteBuffer header = ByteBuffer.allocate(RECORD);
    header.putInt(body.size()).putInt(checksum(sum, number, body.array(), 0, body.size()));
    pending.raw(header.array()).raw(body.array(), 0, body.size());
  }

  private void write() throws IOException {
    if (pending.size() == 0) return;
    long to = end + pending.size();
    if (to > size) {
      reserve(Math.max(to, Math.min(size + AHEAD, fileBytesMax)));
      size = Math.max(to, file.size());
    }
    write(file);
    unsynced = true;
  }

  private void reserve(long to) throws IOException {
    try {
      file.reserve(size, to);
    } catch (DiskFull full) {
      if (!hasSpare) throw full;
      disk.delete(SPARE);
      hasSpare = false;
      file.reserve(size, to);
    }
  }

  @Override
  public void flush(LogHead head) throws IOException {
    write();
    if (!unsynced) return;
    file.sync();
    unsynced = false;
    if (end < fileBytesMax) return;
    file.close();
    earlier.put(number, highest);
    file = next(end, head, List.of());
    drop(head.position().index());
  }

  @Override
  public void drop(long index) throws IOException {
    while (!earlier.isEmpty() && earlier.firstEntry().getValue() <= index) {
      String old = name(earlier.pollFirstEntry().getKey());
      if (hasSpare) {
        disk.delete(old);
      } else {
        disk.rename(old, SPARE);
        hasSpare = true;
      }
    }
  }

  @Override
  public void close() {
    file.close();
    hold.close();
  }
}
