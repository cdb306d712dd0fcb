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

/// Who may read the files of a store: the user that runs it, unless the directory that they are in
/// says otherwise. Where there are no POSIX permissions, nothing is set and nothing is refused.
public final class Permissions {
  private static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OTHERS =
      PosixFilePermissions.fromString("------rwx");

  private Permissions() {}

  /// Makes a directory for its owner alone, and those that it is in, as far as they are missing.
  ///
  /// @throws IOException when one cannot be made
  public static void createDirectories(Path directory) throws IOException {
    Files.createDirectories(directory, attributes(OWNER_ONLY));
  }

  /// What files are made with: the owner reads and writes them; others read them when they may read
  /// the directory.
  ///
  /// @throws IOException when the directory cannot be looked at
  public static FileAttribute<?>[] ofFilesIn(Path directory) throws IOException {
    if (!POSIX) return attributes(Set.of());
    var permissions = EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    permissions.addAll(Files.getPosixFilePermissions(directory));
    permissions.retainAll(PosixFilePermissions.fromString("rw-r--r--"));
    return attributes(permissions);
  }

  /// What a file is made with that nobody else may read.
  public static FileAttribute<?>[] ofPrivateFiles() {
    return attributes(PosixFilePermissions.fromString("rw-------"));
  }

  private static FileAttribute<?>[] attributes(Set<PosixFilePermission> permissions) {
    if (!POSIX) return new FileAttribute<?>[0];
    return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)};
  }

  /// Whether everybody on this machine may read or write a file.
  ///
  /// @throws IOException when it cannot be looked at
  public static boolean isOpenToOthers(Path file) throws IOException {
    if (!POSIX) return false;
    var permissions = EnumSet.noneOf(PosixFilePermission.class);
    permissions.addAll(Files.getPosixFilePermissions(file));
    permissions.retainAll(OTHERS);
    return !permissions.isEmpty();
  }

  /// Refuses a file that is to be known to few, and that everybody on this machine may read or
  /// write.
  ///
  /// @throws IllegalArgumentException saying how that is mended
  /// @throws IOException when it cannot be looked at
  public static void requirePrivate(Path file) throws IOException {
    if (!isOpenToOthers(file)) return;
    throw new IllegalArgumentException(
        file + " can be read or written by every user of this machine; run chmod o-rwx " + file);
  }
}
