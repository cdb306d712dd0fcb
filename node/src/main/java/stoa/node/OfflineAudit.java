package stoa.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import stoa.base.Permissions;
import stoa.storage.disk.DeviceFiles;

/// The commands of operators on the files of a store that no server serves: a file keeps them until
/// a server leads the store, and writes them into the audit log. Stateless.
public final class OfflineAudit {
  /*
   * A line for each command: milliseconds since 1970, the user of the machine, the command, divided
   * by tabs.
   */
  private static final String ADDRESS = "offline";
  private static final int PARTS = 3;

  private OfflineAudit() {}

  /// Notes a command that was done, in the directory of a server or of a store. Durable on return.
  ///
  /// @throws IllegalArgumentException when the file cannot be written
  public static void note(Path directory, String command) {
    Path file = directory.resolve(DeviceFiles.AUDIT);
    String line =
        System.currentTimeMillis()
            + "\t"
            + plain(System.getProperty("user.name", "unknown"))
            + "\t"
            + plain(command)
            + "\n";
    var bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
    Set<StandardOpenOption> appended =
        new HashSet<>(Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND));
    try (var out = FileChannel.open(file, appended, Permissions.ofPrivateFiles())) {
      while (bytes.hasRemaining()) out.write(bytes);
      out.force(true);
    } catch (IOException failed) {
      throw new IllegalArgumentException(
          "the audit entry cannot be written to " + file + ": " + failed.getMessage(), failed);
    }
  }

  private static String plain(String text) {
    return text.replaceAll("\\p{Cntrl}", " ");
  }

  /// Reads the commands of a directory.
  ///
  /// @throws IOException when the file is there and cannot be read
  static List<AuditEntry> read(Path directory) throws IOException {
    Path file = directory.resolve(DeviceFiles.AUDIT);
    var entries = new ArrayList<AuditEntry>();
    if (!Files.exists(file)) return entries;
    for (String line : Files.readAllLines(file)) {
      String[] parts = line.split("\t", PARTS);
      if (parts.length < PARTS || !parts[0].matches("\\d{1,18}")) continue; // cut off by a crash
      long millis = Long.parseLong(parts[0]);
      entries.add(new AuditEntry(millis, parts[1], ADDRESS, parts[2], AuditEntry.DONE));
    }
    return entries;
  }

  /// Forgets the commands of a directory.
  ///
  /// @throws IOException when the file cannot be removed
  static void forget(Path directory) throws IOException {
    Files.deleteIfExists(directory.resolve(DeviceFiles.AUDIT));
  }
}
