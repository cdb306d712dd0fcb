package stoa.trials;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// A disk on this machine that one server has for itself: a file with a file system in it. It can
/// be filled, and made slow. Owned by one thread; needs root.
final class OwnDisk implements AutoCloseable {
  private static final long BYTES = 192L << 20;

  /// Where the kernel has who is made slow.
  static final Path GROUPS = Path.of("/sys/fs/cgroup/blkio");

  /// How the names begin of what there is for the disks of a process, followed by its number.
  static final String PREFIX = "stoa-disks-";

  private static final String LIMIT = "blkio.throttle.write_iops_device";
  private static final long ALL = 0;

  private final Path mount;
  private final Path group;
  private final String device;
  private final Path ballast;

  /// @param directory [#place] where the file and the disk are; has neither yet
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

  /// Makes an empty directory for disks, whose name nobody else uses.
  static Path place() throws IOException {
    return Files.createTempDirectory(PREFIX + ProcessHandle.current().pid() + "-");
  }

  /// Returns whether this machine has what makes disks slow.
  static boolean canBeSlow() {
    return Files.isWritable(GROUPS);
  }

  /// A directory on it.
  Path directory() {
    return mount.resolve("data");
  }

  /// Takes all of its room.
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

  /// Gives its room back.
  void free() throws IOException {
    Files.delete(ballast);
  }

  /// From now on a process writes to it so many times a second at most.
  void slow(long process, int writes) throws IOException {
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(process));
    Files.writeString(group.resolve(LIMIT), device + " " + writes);
  }

  /// It is as fast as it can be.
  void quick() throws IOException {
    Files.writeString(group.resolve(LIMIT), device + " " + ALL);
  }

  /// Ends it; who writes to it must have ended.
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
