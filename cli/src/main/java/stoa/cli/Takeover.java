package stoa.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import stoa.base.Permissions;
import stoa.cluster.ServerDirectory;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.StorageException;
import stoa.wire.SlotMap;

/// Makes a store that one server keeps alone, in its own directory, that of the first of several
/// servers.
final class Takeover {
  /*
   * Meanwhile the directory has the file UNFINISHED, with which neither a lone server nor one of
   * several starts; a takeover that was broken off begins again:
   *   (1) the files of the store move to the folder WHOLE, the lock as the last one
   *   (2) of one group, the folder becomes its replica; of several, they get their parts
   *   (3) the note about the server is written, durable
   */
  private static final String UNFINISHED = "takeover.unfinished";
  private static final String WHOLE = "whole";
  private static final String LOCK = "lock";

  private Takeover() {}

  /// Returns whether a directory is that of a server that keeps its store alone, or a takeover of
  /// it was broken off.
  static boolean isOfLoneServer(Path directory) {
    if (isBrokenOff(directory)) return true;
    if (ServerDirectory.was(directory) || !Files.isDirectory(directory)) return false;
    return files(directory).stream()
        .anyMatch(file -> DeviceFiles.isSegment(String.valueOf(file.getFileName())));
  }

  /// Returns whether a takeover of a directory was broken off.
  static boolean isBrokenOff(Path directory) {
    return Files.exists(directory.resolve(UNFINISHED));
  }

  /// Takes the store over.
  ///
  /// @param first the server that the directory is of from now on
  /// @throws IllegalArgumentException when a server has the directory open, or it cannot be written
  static void run(Path directory, ServerDirectory.First first) {
    ServerDirectory.requireRestorable(first);
    Path whole = directory.resolve(WHOLE);
    Path unfinished = directory.resolve(UNFINISHED);
    try {
      if (!ServerDirectory.was(directory)) {
        move(directory, unfinished, whole);
        divide(directory, whole, first.groups());
        ServerDirectory.restore(directory, first);
      }
      if (Files.exists(whole)) FileDisk.remove(whole);
      Files.deleteIfExists(unfinished);
      BackupFolder.sync(directory, StandardOpenOption.READ);
    } catch (IOException | StorageException failed) {
      throw new IllegalArgumentException(
          directory
              + " cannot be taken over: "
              + failed.getMessage()
              + "; nothing is lost: try again when that is mended",
          failed);
    }
  }

  private static void move(Path directory, Path unfinished, Path whole) throws IOException {
    var disk = new FileDisk(directory);
    boolean again = Files.exists(unfinished);
    if (again && !Files.exists(directory.resolve(LOCK))) return; // all are there
    try (var _ = disk.hold()) {
      if (!again) Files.createFile(unfinished, Permissions.ofFilesIn(directory));
      Permissions.createDirectories(whole);
      BackupFolder.sync(directory, StandardOpenOption.READ);
      for (Path file : files(directory)) {
        String name = String.valueOf(file.getFileName());
        boolean stays =
            Files.isDirectory(file)
                || name.equals(LOCK)
                || name.equals(DeviceFiles.AUDIT)
                || file.equals(unfinished);
        if (!stays) Files.move(file, whole.resolve(name), StandardCopyOption.ATOMIC_MOVE);
      }
      BackupFolder.sync(whole, StandardOpenOption.READ);
      Files.move(directory.resolve(LOCK), whole.resolve(LOCK), StandardCopyOption.ATOMIC_MOVE);
      BackupFolder.sync(whole, StandardOpenOption.READ);
      BackupFolder.sync(directory, StandardOpenOption.READ);
    }
  }

  /// Gives each group its part.
  private static void divide(Path directory, Path whole, int groups) throws IOException {
    if (!Files.exists(whole)) {
      if (groups == 1) return;
      throw new IllegalArgumentException(
          directory + " is being taken over in one group; go on with --groups 1");
    }
    for (int group = 0; group < SlotMap.GROUPS_MAX; group++) {
      Path begun = ServerDirectory.replica(directory, group);
      if (Files.exists(begun)) FileDisk.remove(begun);
    }
    if (groups > 1) {
      Restoring.divide(whole, directory, groups);
    } else {
      Files.move(whole, ServerDirectory.replica(directory, 0), StandardCopyOption.ATOMIC_MOVE);
      BackupFolder.sync(directory, StandardOpenOption.READ);
    }
  }

  private static List<Path> files(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    } catch (IOException failed) {
      throw new IllegalArgumentException(directory + " cannot be read: " + failed, failed);
    }
  }
}
