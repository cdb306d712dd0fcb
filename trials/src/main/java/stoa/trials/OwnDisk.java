package stoa.trials;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// A disk on this machine for one server: a file with a file system in it. A test can fill it, and
/// slow it down. Owned by one thread; needs root.
final class OwnDisk implements AutoCloseable {
  private static final long BYTES = 192L << 20;

  /// The kernel's directory of processes with limited rates.
  static final Path GROUPS = Path.of("/sys/fs/cgroup/blkio");

  /// The prefix of the names of a process's disks, followed by the number of the process.
  static final String PREFIX = "stoa-disks-";

  private static final String LIMIT = "blkio.throttle.write_iops_device";
  private static final long ALL = 0;

  private final Path mount;
  private final Path group;
  private final String device;
  private final Path ballast;

  /// @param directory the directory of [#place] for the file and the disk; has neither yet
  /// @param name of it
  OwnDisk(Path directory, String name) throws IOException, InterruptedException {
    Path image = directory.resolve(name + ".image");
    mount = directory.resolve(name);
    ballast = mount.resolve("ballast");
    group = GROUPS.resolve(directory.getFileName() + "-" + name);
    try (var file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength(BYTES);
    }
    Root.run("mkfs.ext4", "-q", "-F", image.toString());
    Files.createDirectory(mount);
    Root.run("mount", "-o", "loop", image.toString(), mount.toString());
    String numbers = "";
    try {
      String loop = Root.run("findmnt", "-no", "SOURCE", mount.toString());
      numbers = Root.run("lsblk", "-dno", "MAJ:MIN", loop).strip();
      if (canBeSlow()) Files.createDirectory(group);
    } catch (IOException | InterruptedException | RuntimeException failed) {
      close();
      throw failed;
    } finally {
      device = numbers;
    }
  }

  /// Creates an empty directory for disks, with a unique name.
  static Path place() throws IOException {
    return Files.createTempDirectory(PREFIX + ProcessHandle.current().pid() + "-");
  }

  /// Returns whether this machine can slow disks down.
  static boolean canBeSlow() {
    return Files.isWritable(GROUPS);
  }

  /// Returns a directory on it.
  Path directory() {
    return mount.resolve("data");
  }

  /// Fills it.
  void fill() throws IOException {
    byte[] block = new byte[1 << 16];
    try (var out =
        FileChannel.open(ballast, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      for (int size = block.length; size > 0; ) {
        try {
          var _ = out.write(java.nio.ByteBuffer.wrap(block, 0, size));
        } catch (IOException full) {
          size /= 16;
        }
      }
    }
  }

  /// Frees the room that [#fill] took.
  void free() throws IOException {
    Files.delete(ballast);
  }

  /// Limits the writes of a process per second.
  void slow(long process, int writes) throws IOException {
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(process));
    Files.writeString(group.resolve(LIMIT), device + " " + writes);
  }

  /// Ends the limit.
  void quick() throws IOException {
    Files.writeString(group.resolve(LIMIT), device + " " + ALL);
  }

  /// Removes it; the processes that write to it must have ended.
  @Override
  public void close() throws IOException {
    try {
      Root.run("umount", mount.toString());
      Files.deleteIfExists(group);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
