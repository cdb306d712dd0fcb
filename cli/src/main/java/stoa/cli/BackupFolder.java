package stoa.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Permissions;
import stoa.objects.BackupService.Taken;
import stoa.storage.Image;
import stoa.storage.disk.DeviceFiles;

/// A folder with backups of one store. One owner uses it.
final class BackupFolder {
  /*
   *   backup-00000001        the text of a BackupPoint, written last
   *   group-0.1/             segments of group 0; another replica's, with other contents, are in
   *                          group-0.2, and so on
   *   backup.lock            held by the process that takes a backup
   *
   * Invariants:
   * (1) The bytes that a text names are durable before the text has its name.
   * (2) The bytes of a file that some text names never change. Bytes beyond are of a backup that
   *     did not end, or of the log behind a cut: the next backup writes them again.
   */
  private static final String PREFIX = "backup-";
  private static final int COMPARED_BYTES = 4 << 10;

  // The bytes of a piece, which are synced before the next one is read: the disk may be the
  // store's, whose syncs wait behind this one.
  private static final int PIECE_BYTES = 64 << 10;

  private static final int ATTEMPTS = 20;
  private static final long PAUSE_NANOS = 200_000_000;

  // For how long work may go on before it pauses.
  private static final long BURST_NANOS = 5_000_000;

  // How much faster than the copying the verifying may be, which only reads.
  private static final long VERIFYING_FACTOR = 4;

  private final Path directory;

  BackupFolder(Path directory) {
    this.directory = directory;
  }

  // ---- what is there

  /// Returns the backups in the folder, oldest first.
  ///
  /// @throws IllegalArgumentException when one is damaged
  List<BackupPoint> points() {
    var points = new ArrayList<BackupPoint>();
    if (!Files.isDirectory(directory)) return points;
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file :
          files.filter(file -> named(file).matches(PREFIX + "\\d{8}")).sorted().toList()) {
        points.add(BackupPoint.read(file));
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(directory + " cannot be read: " + e, e);
    }
    return points;
  }

  private static String named(Path file) {
    return String.valueOf(file.getFileName());
  }

  /// Returns the backups in the folder, of which there is at least one.
  List<BackupPoint> somePoints() {
    List<BackupPoint> points = points();
    if (!points.isEmpty()) return points;
    throw new IllegalArgumentException(
        directory + " has no backup; ./stoa backup --to " + directory + " takes one");
  }

  /// Returns the files of a group.
  BackupFiles files(BackupPoint.Group group) {
    return new BackupFiles(directory.resolve(group.source()), group.files());
  }

  /// Returns all that the folder has of a source, whichever backup names it, by the numbers of
  /// segments.
  SortedMap<Integer, BackupPoint.Segment> all(List<BackupPoint> points, String source) {
    var all = new TreeMap<Integer, BackupPoint.Segment>();
    for (BackupPoint point : points) {
      for (BackupPoint.Group group : point.groups()) {
        if (!group.source().equals(source)) continue;
        for (BackupPoint.Segment file : group.files()) {
          all.merge(file.number(), file, (one, other) -> one.bytes() > other.bytes() ? one : other);
        }
      }
    }
    return all;
  }

  Path directory() {
    return directory;
  }

  // ---- taking one

  /// A backup that was taken.
  ///
  /// @param point the backup
  /// @param copied how many bytes were copied for it
  record Made(BackupPoint point, long copied) {}

  /// Takes a backup.
  ///
  /// @param keep how many backups the folder has afterwards, at most
  /// @param rate the most bytes that are read in a second; 0 for no bound
  /// @throws IllegalArgumentException when it cannot be taken; earlier ones stay
  Made take(BackupSource source, int keep, long rate) {
    try {
      Permissions.createDirectories(directory);
      try (var _ = locked()) {
        Made made = take(source, new Pace(rate));
        prune(keep);
        return made;
      }
    } catch (IOException failed) {
      throw new IllegalArgumentException(
          "the backup failed, and earlier ones are as they were: " + reason(failed), failed);
    } catch (UncheckedIOException failed) {
      throw new IllegalArgumentException(
          "the backup failed, and earlier ones are as they were: " + reason(failed), failed);
    }
  }

  private static String reason(Exception failed) {
    return failed
        + "; is there room on the file system? Give more, or another folder, and take it again";
  }

  private FileChannel locked() throws IOException {
    Path file = directory.resolve("backup.lock");
    if (!Files.exists(file)) {
      requireEmpty();
      Files.createFile(file, Permissions.ofFilesIn(directory));
    }
    FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
    @Nullable FileLock held = null;
    try {
      held = channel.tryLock();
    } catch (OverlappingFileLockException here) {
      // Held by this process.
    }
    if (held != null) return channel;
    channel.close();
    throw new IllegalArgumentException(
        "another backup into " + directory + " is in progress; wait for its end");
  }

  private void requireEmpty() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      Path other = files.findAny().orElse(null);
      if (other == null) return;
      throw new IllegalArgumentException(
          directory
              + " has "
              + named(other)
              + ", and is no folder of backups; choose an empty or a new one");
    }
  }

  private Made take(BackupSource source, Pace pace) throws IOException {
    List<BackupPoint> points = points();
    RuntimeException last = new Unavailable("no server answers");
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) LockSupport.parkNanos(PAUSE_NANOS);
      try {
        return attempt(source, points, pace);
      } catch (Unavailable again) {
        last = again;
      }
    }
    throw new IllegalArgumentException(
        "no backup, after " + ATTEMPTS + " attempts: " + last.getMessage(), last);
  }

  private Made attempt(BackupSource source, List<BackupPoint> points, Pace pace)
      throws IOException {
    @Nullable BackupPoint before = points.isEmpty() ? null : points.getLast();
    var taken = new ArrayList<Taken>();
    taken.add(source.take(0, 0));
    Taken first = taken.getFirst();
    if (before != null) requireSame(before, first);
    for (int group = 1; group < source.groups(); group++) {
      taken.add(source.take(group, first.address()));
    }
    // A single group ends where its segments do.
    long address = source.groups() == 1 ? first.tail() : first.address();
    int format = before == null ? BackupPoint.PLAIN : before.format();
    var groups = new ArrayList<BackupPoint.Group>();
    for (int group = 0; group < taken.size(); group++) {
      int number = group;
      Taken its = taken.get(group);
      Copied copied =
          source.copy(
              group, its, pieces -> new Copy(points, number, its, pieces, pace).run(address));
      groups.add(copied.group());
      if (copied.hasLog()) format = BackupPoint.WITH_LOGS;
    }
    long micros = 0;
    for (BackupPoint.Group group : groups) {
      for (BackupPoint.Segment file : group.files()) micros = Math.max(micros, file.micros());
    }
    int number = before == null ? 1 : before.number() + 1;
    var point =
        new BackupPoint(format, number, first.origin(), address, micros, Instant.now(), groups);
    write(point);
    return new Made(point, pace.bytes);
  }

  private void requireSame(BackupPoint before, Taken now) {
    boolean same = before.origin().equals(now.origin()) || before.origin().isEmpty();
    if (!same) {
      throw new IllegalArgumentException(
          directory + " has backups of another store; choose another folder");
    }
    if (now.address() >= before.address()) return;
    throw new IllegalArgumentException(
        "the store is at log address "
            + now.address()
            + ", and the last backup in "
            + directory
            + " at "
            + before.address()
            + ", so the store was set back since; choose another folder");
  }

  private void write(BackupPoint point) throws IOException {
    Path file = directory.resolve("%s%08d".formatted(PREFIX, point.number()));
    Path next = directory.resolve("backup.next");
    Files.deleteIfExists(next);
    Files.createFile(next, Permissions.ofFilesIn(directory));
    Files.writeString(next, point.text());
    sync(next, StandardOpenOption.WRITE);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    sync(directory, StandardOpenOption.READ);
  }

  static void sync(Path path, StandardOpenOption mode) throws IOException {
    try (var channel = FileChannel.open(path, mode)) {
      channel.force(true);
    }
  }

  /// Deletes the oldest backups, and files that no backup names.
  private void prune(int keep) throws IOException {
    List<BackupPoint> points = points();
    int gone = Math.max(0, points.size() - keep);
    for (BackupPoint point : points.subList(0, gone)) {
      Files.delete(directory.resolve("%s%08d".formatted(PREFIX, point.number())));
    }
    if (gone > 0) sync(directory, StandardOpenOption.READ);
    Map<String, Set<String>> named = new HashMap<>();
    for (BackupPoint point : points.subList(gone, points.size())) {
      for (BackupPoint.Group group : point.groups()) {
        Set<String> files = named.computeIfAbsent(group.source(), _ -> new HashSet<>());
        for (BackupPoint.Segment file : group.files()) {
          files.add(DeviceFiles.segment(file.number()));
        }
      }
    }
    for (Path source : sources()) {
      Set<String> files = named.getOrDefault(named(source), Set.of());
      try (Stream<Path> there = Files.list(source)) {
        for (Path file : there.toList()) if (!files.contains(named(file))) Files.delete(file);
      }
      if (files.isEmpty()) Files.delete(source);
    }
  }

  private List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> named(file).matches("group-\\d+\\.\\d+")).toList();
    }
  }

  /// Bounds how many bytes are copied in a second, and verified.
  private static final class Pace {
    private final long rate;
    private long dueNanos = System.nanoTime();
    private long bytes;

    Pace(long rate) {
      this.rate = rate;
    }

    void copied(long more) {
      bytes += more;
      pause(more);
    }

    /// Waits after reading some bytes.
    void pause(long more) {
      if (rate == 0) return;
      long now = System.nanoTime();
      dueNanos = Math.max(dueNanos, now - BURST_NANOS) + (long) (more * 1e9 / rate);
      if (dueNanos - now < BURST_NANOS) return;
      for (long left = dueNanos - now; left > 0; left = dueNanos - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
  }

  /// The result of copying a group.
  ///
  /// @param hasLog whether there is something of the log of a replica in what is new
  private record Copied(BackupPoint.Group group, boolean hasLog) {}

  /// Copies what is new of a group.
  private final class Copy {
    private final List<BackupPoint> points;
    private final int group;
    private final Taken taken;
    private final BackupSource.Pieces pieces;
    private final Pace pace;
    private boolean hasLog;

    Copy(List<BackupPoint> points, int group, Taken taken, BackupSource.Pieces pieces, Pace pace) {
      this.points = points;
      this.group = group;
      this.taken = taken;
      this.pieces = pieces;
      this.pace = pace;
    }

    Copied run(long address) {
      try {
        String source = source();
        Path to = directory.resolve(source);
        Permissions.createDirectories(to);
        sync(directory, StandardOpenOption.READ);
        var known = all(points, source);
        var there = new ArrayList<BackupPoint.Segment>();
        for (Image.Part part : taken.parts()) {
          BackupPoint.@Nullable Segment before = known.get(part.segment());
          long from = before == null ? 0 : before.bytes();
          copy(to, part, from);
          there.add(new BackupPoint.Segment(part.segment(), part.base(), part.bytes(), 0, 0, 0, 0));
        }
        sync(to, StandardOpenOption.READ);
        var group = new BackupPoint.Group(source, cut(to, known, there, address));
        return new Copied(group, hasLog);
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }

    /// Verifies and counts what is new, and ends the log before the first batch beyond an address.
    private List<BackupPoint.Segment> cut(
        Path to,
        Map<Integer, BackupPoint.Segment> known,
        List<BackupPoint.Segment> there,
        long address) {
      var files = new BackupFiles(to, there);
      var kept = new ArrayList<BackupPoint.Segment>();
      for (BackupPoint.Segment file : there) {
        BackupPoint.@Nullable Segment before = known.get(file.number());
        if (before != null && before.bytes() == file.bytes()) {
          kept.add(before);
          continue;
        }
        BackupCut.Counted counted =
            BackupCut.count(
                files,
                file.number(),
                file.bytes(),
                address,
                read -> pace.pause(read / VERIFYING_FACTOR));
        kept.add(counted.file());
        hasLog |= counted.hasLog();
        if (counted.isCut()) break;
      }
      try {
        return BackupCut.live(files, kept);
      } catch (IllegalArgumentException reclaimed) {
        throw new Unavailable("a segment was reclaimed meanwhile", reclaimed);
      }
    }

    /// Returns the directory whose files are those of the source, or a new one.
    private String source() throws IOException {
      String prefix = "group-" + group + ".";
      var tried = new HashSet<String>();
      for (BackupPoint point : points.reversed()) {
        if (point.groups().size() <= group) continue;
        String source = point.groups().get(group).source();
        if (source.startsWith(prefix) && tried.add(source) && isSame(source)) return source;
      }
      int number = 1;
      for (BackupPoint point : points) {
        for (BackupPoint.Group one : point.groups()) {
          if (!one.source().startsWith(prefix)) continue;
          number = Math.max(number, 1 + Integer.parseInt(one.source().substring(prefix.length())));
        }
      }
      return prefix + number;
    }

    /// Returns whether the files that are there begin like the segments to copy.
    private boolean isSame(String source) throws IOException {
      var known = all(points, source);
      boolean any = false;
      for (Image.Part part : taken.parts()) {
        BackupPoint.@Nullable Segment file = known.get(part.segment());
        if (file == null) continue;
        if (file.base() != part.base() || file.bytes() > part.bytes()) return false;
        int length = (int) Math.min(COMPARED_BYTES, file.bytes());
        byte[] its = pieces.read(part.segment(), file.bytes() - length, length);
        Path own = directory.resolve(source).resolve(DeviceFiles.segment(part.segment()));
        if (!Arrays.equals(its, bytes(own, file.bytes() - length, length))) return false;
        any = true;
      }
      return any;
    }

    private static byte[] bytes(Path file, long at, int length) throws IOException {
      var bytes = ByteBuffer.allocate(length);
      try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
        while (bytes.hasRemaining() && channel.read(bytes, at + bytes.position()) > 0) {
          // Until all is there.
        }
      }
      return bytes.array();
    }

    private void copy(Path to, Image.Part part, long from) throws IOException {
      Path file = to.resolve(DeviceFiles.segment(part.segment()));
      if (from == part.bytes()) return;
      if (from == 0) {
        Files.deleteIfExists(file);
        Files.createFile(file, Permissions.ofFilesIn(to));
      }
      try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.truncate(from);
        for (long at = from; at < part.bytes(); ) {
          int length = (int) Math.min(PIECE_BYTES, part.bytes() - at);
          var data = ByteBuffer.wrap(pieces.read(part.segment(), at, length));
          while (data.hasRemaining()) at += channel.write(data, at);
          channel.force(false);
          pace.copied(length);
        }
        channel.force(true);
      }
    }
  }

  // ---- looking at one

  /// Reads a backup, and compares it with its counts.
  ///
  /// @return what differs, a line each; none when all is there
  List<String> verify(BackupPoint point) {
    var troubles = new ArrayList<String>();
    for (BackupPoint.Group group : point.groups()) {
      BackupFiles files = files(group);
      for (BackupPoint.Segment file : group.files()) {
        String place =
            directory
                .resolve(group.source())
                .resolve(DeviceFiles.segment(file.number()))
                .toString();
        try {
          BackupPoint.Segment found =
              BackupCut.count(files, file.number(), file.bytes(), Long.MAX_VALUE).file();
          if (!found.equals(file)) {
            troubles.add(place + " has " + found + ", and the backup had " + file);
          }
        } catch (stoa.storage.disk.StorageException damaged) {
          troubles.add(place + ": " + damaged.getMessage());
        }
      }
    }
    return troubles;
  }
}
