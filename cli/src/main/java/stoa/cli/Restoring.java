package stoa.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.StoaConfig;
import stoa.base.Permissions;
import stoa.cluster.ServerDirectory;
import stoa.log.ReplicaLog;
import stoa.objects.Merging;
import stoa.objects.Spreading;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.StorageException;
import stoa.weave.UserClasses;
import stoa.wire.SlotMap;

/// Makes the devices of a store out of a backup. One owner uses it once.
final class Restoring {
  /*
   * While it works, the target has the file UNFINISHED, with which no device opens. The text of the
   * backup says what every file must have; what is written is read again, and compared.
   */
  private static final String UNFINISHED = "restore.unfinished";
  private static final String WHOLE = "whole";
  private static final int COPY_BYTES = 1 << 20;

  private final BackupFolder folder;
  private final List<BackupPoint> points;
  private final BackupPoint point;

  // The files of each group, up to the cut.
  private final List<List<BackupPoint.Segment>> groups = new ArrayList<>();

  private final long address;

  /// @param at the log address or time to cut at; null for the last backup
  /// @throws IllegalArgumentException when the folder does not have that
  Restoring(BackupFolder folder, @Nullable String at) {
    this.folder = folder;
    this.points = folder.somePoints();
    if (at == null) {
      point = points.getLast();
      address = point.address();
      for (BackupPoint.Group group : point.groups()) groups.add(group.files());
      return;
    }
    if (at.matches("\\d{1,18}")) {
      address = Long.parseLong(at);
      point = later(address);
    } else {
      long micros = LookOptions.micros(at);
      point =
          points.stream().filter(one -> one.micros() > micros).findFirst().orElse(points.getLast());
      address = before(micros);
    }
    if (address >= 1) cut();
    if (groups.stream().flatMap(List::stream).allMatch(file -> file.micros() == 0)) {
      throw missing("nothing is that old", null);
    }
  }

  private BackupPoint later(long wanted) {
    for (BackupPoint one : points) if (one.address() >= wanted) return one;
    throw new IllegalArgumentException(
        "the last backup in "
            + folder.directory()
            + " ends at log address "
            + points.getLast().address()
            + ", before "
            + wanted);
  }

  /// Returns the last log address of which every group is older than a time.
  private long before(long micros) {
    long first = point.address() + 1;
    for (BackupPoint.Group group : point.groups()) {
      var all = List.copyOf(folder.all(points, group.source()).values());
      var files = new BackupFiles(folder.directory().resolve(group.source()), all);
      first = Math.min(first, BackupCut.firstAfter(files, all, micros));
    }
    return first - 1;
  }

  private void cut() {
    if (address == point.address()) {
      for (BackupPoint.Group group : point.groups()) groups.add(group.files());
      return;
    }
    for (BackupPoint.Group group : point.groups()) {
      var all = List.copyOf(folder.all(points, group.source()).values());
      var files = new BackupFiles(folder.directory().resolve(group.source()), all);
      try {
        groups.add(BackupCut.cut(files, all, address));
      } catch (IllegalArgumentException reclaimed) {
        throw missing("what it had was reclaimed before a backup came", reclaimed);
      } catch (StorageException damaged) {
        throw new IllegalArgumentException(damaged.getMessage(), damaged);
      }
    }
  }

  private IllegalArgumentException missing(String why, @Nullable Exception cause) {
    var text = new StringBuilder();
    for (BackupPoint one : points) {
      text.append("; ").append(one.address()).append(" of ").append(LookOptions.time(one.micros()));
    }
    return new IllegalArgumentException(
        folder.directory()
            + " has not the store as it was then: "
            + why
            + ". These log addresses can be restored"
            + text,
        cause);
  }

  /// Returns how many groups the backup has.
  int groups() {
    return groups.size();
  }

  /// Returns the log address at which the store is cut.
  long address() {
    return address;
  }

  /// Returns how many bytes the store has.
  long bytes() {
    return groups.stream().flatMap(List::stream).mapToLong(BackupPoint.Segment::bytes).sum();
  }

  /// Returns how many records the logs have.
  long records() {
    return groups.stream().flatMap(List::stream).mapToLong(BackupPoint.Segment::records).sum();
  }

  /// Begins to write a store.
  ///
  /// @param to absent, or empty
  static void begin(Path to) {
    try {
      Permissions.createDirectories(to);
      try (Stream<Path> files = Files.list(to)) {
        Path other = files.findAny().orElse(null);
        if (other != null) {
          boolean unfinished = Files.exists(to.resolve(UNFINISHED));
          throw new IllegalArgumentException(
              to
                  + (unfinished
                      ? " has a part of a store, since restoring it was broken off; delete it, and"
                          + " restore again"
                      : " is not empty; choose an empty or a new directory"));
        }
      }
      Files.createFile(to.resolve(UNFINISHED), Permissions.ofFilesIn(to));
      BackupFolder.sync(to, StandardOpenOption.READ);
      Path parent = to.toAbsolutePath().getParent();
      if (parent != null) BackupFolder.sync(parent, StandardOpenOption.READ);
    } catch (IOException failed) {
      throw new IllegalArgumentException(to + " cannot be written: " + failed, failed);
    }
  }

  /// Ends writing a store, which opens from now on.
  static void end(Path to) {
    try {
      BackupFolder.sync(to, StandardOpenOption.READ);
      Files.delete(to.resolve(UNFINISHED));
      BackupFolder.sync(to, StandardOpenOption.READ);
    } catch (IOException failed) {
      throw new IllegalArgumentException(to + " cannot be written: " + failed, failed);
    }
  }

  /// Writes the device of a group, and reads it again.
  ///
  /// @param to its directory
  void write(int group, Path to) {
    Path from = folder.directory().resolve(point.groups().get(group).source());
    List<BackupPoint.Segment> files = groups.get(group);
    var source = new BackupFiles(from, files);
    var target = new FileDisk(to);
    // A file is synced and read again while the next one is written.
    try (var _ = target.hold();
        var verifying = Executors.newSingleThreadExecutor()) {
      var verified = new ArrayList<Future<?>>();
      for (BackupPoint.Segment file : files) {
        String name = DeviceFiles.segment(file.number());
        try (DiskFile in = source.open(name);
            DiskFile out = target.create(name)) {
          copy(in, out, file.bytes());
        }
        verified.add(
            verifying.submit(() -> {
              verify(target, file);
              return null;
            }));
      }
      for (Future<?> one : verified) one.get();
      target.syncDirectory();
    } catch (IOException | StorageException failed) {
      throw cannot(to, failed);
    } catch (ExecutionException differs) {
      throw cannot(to, differs.getCause());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw cannot(to, interrupted);
    }
  }

  private static void verify(FileDisk target, BackupPoint.Segment file) throws IOException {
    try (DiskFile written = target.open(DeviceFiles.segment(file.number()))) {
      written.sync();
    }
    var found = BackupCut.count(target, file.number(), file.bytes(), Long.MAX_VALUE).file();
    if (found.equals(file)) return;
    throw new IllegalArgumentException("a segment has " + found + ", and the backup had " + file);
  }

  private static IllegalArgumentException cannot(Path to, @Nullable Throwable cause) {
    String why = cause == null ? "" : ": " + cause.getMessage();
    return new IllegalArgumentException(
        to + " cannot be restored" + why + "; ./stoa backup --verify says more", cause);
  }

  /// Writes the devices of another number of groups than the backup has.
  ///
  /// @param to the directory of their server
  /// @param one the directory of the device when it is one group
  /// @param path jar files and directories with classes of values that no version in the log has
  void regroup(Path to, Path one, int wanted, List<Path> path) {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (UserClasses classes = UserClasses.open(path, _ -> {})) {
      // The code that the store has, and no class that is there by accident.
      Thread.currentThread().setContextClassLoader(classes);
      Path whole = to.resolve(WHOLE);
      if (groups.size() == 1) write(0, whole);
      else join(to, whole);
      if (wanted == 1) {
        move(whole, one);
      } else {
        spread(to, whole, wanted);
        FileDisk.remove(whole);
      }
    } catch (IOException | StorageException failed) {
      throw new IllegalArgumentException(to + " cannot be written: " + failed.getMessage(), failed);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  private void join(Path to, Path whole) throws IOException {
    var parts = new ArrayList<Path>();
    for (int group = 0; group < groups.size(); group++) {
      Path part = to.resolve("part-" + group);
      write(group, part);
      parts.add(part);
    }
    var devices = new ArrayList<Device>();
    try {
      for (Path part : parts) devices.add(device(part));
      Merging.run(StoaConfig.of("file:" + whole), devices, () -> device(whole));
    } finally {
      devices.forEach(Device::close);
    }
    for (Path part : parts) FileDisk.remove(part);
  }

  /// Writes the device of a store that one server keeps, out of a backup of one group.
  ///
  /// @param to the directory of the store
  void writeAlone(Path to) {
    Path whole = to.resolve(WHOLE);
    write(0, whole);
    try {
      device(whole).close();
      move(whole, to);
    } catch (IOException | StorageException failed) {
      throw cannot(to, failed);
    }
  }

  private static void move(Path from, Path to) throws IOException {
    Permissions.createDirectories(to);
    try (var files = Files.newDirectoryStream(from)) {
      for (Path file : files) Files.move(file, to.resolve(from.relativize(file)));
    }
    Files.delete(from);
    BackupFolder.sync(to, StandardOpenOption.READ);
  }

  /// Writes the devices of several groups out of that of one.
  ///
  /// @param whole the directory of the device, which changes
  /// @param to the directory of the groups' server
  /// @throws IOException when they cannot be written
  static void divide(Path whole, Path to, int wanted) throws IOException {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (UserClasses stored = UserClasses.open(List.of(), _ -> {})) {
      Thread.currentThread().setContextClassLoader(stored);
      spread(to, whole, wanted);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  private static void spread(Path to, Path whole, int wanted) {
    var parts = new ArrayList<Device>();
    try {
      for (int group = 0; group < wanted; group++) {
        parts.add(device(ServerDirectory.replica(to, group)));
      }
      Spreading.run(
          StoaConfig.of("file:" + whole), () -> device(whole), parts, SlotMap.of(wanted)::group);
    } finally {
      parts.forEach(Device::close);
    }
  }

  /// Opens a device, without what a replica had in its log and has not applied.
  private static Device device(Path directory) {
    Device device = Device.open(new FileDisk(directory), DeviceConfig.standard());
    try {
      ReplicaLog.cutOff(device);
      return device;
    } catch (RuntimeException failed) {
      device.close();
      throw failed;
    }
  }

  private static void copy(DiskFile in, DiskFile out, long bytes) throws IOException {
    var buffer = ByteBuffer.allocateDirect(COPY_BYTES);
    for (long at = 0; at < bytes; ) {
      buffer.clear();
      if (in.read(at, buffer) < 0) throw new IOException(in.name() + " ends at " + at);
      buffer.flip();
      int n = buffer.remaining();
      out.write(at, buffer);
      at += n;
    }
  }
}
