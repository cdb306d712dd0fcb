package stoa.base;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/// The permissions of a store's files: for the user that runs it alone, unless the directory grants
/// more. Where there are no POSIX permissions, it sets and refuses nothing.
public final class Permissions {
  private static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OTHERS =
      PosixFilePermissions.fromString("------rwx");

  private Permissions() {}

  /// Creates a directory for its owner alone, and its missing parents.
  ///
  /// @throws IOException when one cannot be created
  public static void createDirectories(Path directory) throws IOException {
    Files.createDirectories(directory, attributes(OWNER_ONLY));
  }

  /// Returns the attributes of new files: the owner reads and writes them; others read them if they
  /// may read the directory.
  ///
  /// @throws IOException when the directory cannot be examined
  public static FileAttribute<?>[] ofFilesIn(Path directory) throws IOException {
    if (!POSIX) return attributes(Set.of());
    var permissions = EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    permissions.addAll(Files.getPosixFilePermissions(directory));
    permissions.retainAll(PosixFilePermissions.fromString("rw-r--r--"));
    return attributes(permissions);
  }

  /// Returns the attributes of a new file that only its owner may read.
  public static FileAttribute<?>[] ofPrivateFiles() {
    return attributes(PosixFilePermissions.fromString("rw-------"));
  }

  private static FileAttribute<?>[] attributes(Set<PosixFilePermission> permissions) {
    if (!POSIX) return new FileAttribute<?>[0];
    return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)};
  }

  /// Returns whether all users of this machine may read or write a file.
  ///
  /// @throws IOException when it cannot be examined
  public static boolean isOpenToOthers(Path file) throws IOException {
    if (!POSIX) return false;
    var permissions = EnumSet.noneOf(PosixFilePermission.class);
    permissions.addAll(Files.getPosixFilePermissions(file));
    permissions.retainAll(OTHERS);
    return !permissions.isEmpty();
  }

  /// Refuses a file that should be private, and that all users of this machine may read or write.
  ///
  /// @throws IllegalArgumentException with the remedy
  /// @throws IOException when it cannot be examined
  public static void requirePrivate(Path file) throws IOException {
    if (!isOpenToOthers(file)) return;
    throw new IllegalArgumentException(
        file + " can be read or written by every user of this machine; run chmod o-rwx " + file);
  }
}
