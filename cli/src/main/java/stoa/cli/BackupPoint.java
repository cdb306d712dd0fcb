package stoa.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/// One backup in a [BackupFolder]: the files that it has of each group. Immutable.
///
/// @param format [#PLAIN] or [#WITH_LOGS]
/// @param number its number in the folder, from 1
/// @param origin tells stores apart; empty for a store without any entry
/// @param address the last log address that it has
/// @param micros the time of the last batch, in microseconds since 1970
/// @param taken when it was taken
/// @param groups by their numbers
record BackupPoint(
    int format,
    int number,
    String origin,
    long address,
    long micros,
    Instant taken,
    List<Group> groups) {
  /*
   * The text, a line each:
   *
   *   stoa backup 1                      the format
   *   number, origin, address, micros, taken, each with its value
   *   group SOURCE                       for each group; its files follow
   *   segment NUMBER BASE BYTES RECORDS ITEMS LAST MICROS
   *   checksum CRC32C                    of all lines before
   */
  private static final String FORMAT = "stoa backup ";
  private static final String CHECKSUM = "checksum ";

  /// The format of backups whose devices have no logs of replicas.
  static final int PLAIN = 1;

  /// The format of backups whose devices may have logs of replicas, with what these have not
  /// applied. A restored store is without it. Earlier versions refuse this format, since they would
  /// show it.
  static final int WITH_LOGS = 2;

  BackupPoint {
    groups = List.copyOf(groups);
  }

  /// Creates one of the format [#PLAIN].
  BackupPoint(
      int number, String origin, long address, long micros, Instant taken, List<Group> groups) {
    this(PLAIN, number, origin, address, micros, taken, groups);
  }

  /// The part of a backup that is of one group.
  ///
  /// @param source the directory of the files, in the folder
  /// @param files ascending
  record Group(String source, List<Segment> files) {
    Group {
      files = List.copyOf(files);
    }

    /// Returns how many bytes these are.
    long bytes() {
      return files.stream().mapToLong(Segment::bytes).sum();
    }
  }

  /// The first bytes of a segment.
  ///
  /// @param number of the segment
  /// @param base the log position of its first byte
  /// @param bytes how many of its file count
  /// @param records whole records there
  /// @param items in these
  /// @param last the greatest log address of a batch there; 0 for none
  /// @param micros the latest time of a batch there; 0 for none
  record Segment(
      int number, long base, long bytes, long records, long items, long last, long micros) {}

  /// Returns how many bytes it has.
  long bytes() {
    return groups.stream().mapToLong(Group::bytes).sum();
  }

  /// Returns how many records of the log it has.
  long records() {
    return groups.stream()
        .flatMap(group -> group.files().stream())
        .mapToLong(Segment::records)
        .sum();
  }

  String text() {
    var text = new StringBuilder(FORMAT).append(format).append('\n');
    text.append("number ").append(number).append('\n');
    text.append("origin ").append(origin).append('\n');
    text.append("address ").append(address).append('\n');
    text.append("micros ").append(micros).append('\n');
    text.append("taken ").append(taken).append('\n');
    for (Group group : groups) {
      text.append("group ").append(group.source()).append('\n');
      for (Segment file : group.files()) {
        text.append("segment ").append(file.number());
        for (long value :
            new long[] {
              file.base(), file.bytes(), file.records(), file.items(), file.last(), file.micros()
            }) {
          text.append(' ').append(value);
        }
        text.append('\n');
      }
    }
    String checksum = checksum(text.toString());
    return text.append(CHECKSUM).append(checksum).append('\n').toString();
  }

  private static String checksum(String text) {
    var crc = new CRC32C();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return Long.toHexString(crc.getValue());
  }

  /// Reads what [#text] made.
  ///
  /// @throws IllegalArgumentException when it is damaged, or of a later format
  static BackupPoint read(Path file) throws IOException {
    String text = Files.readString(file);
    if (!text.startsWith(FORMAT)) throw damaged(file, "it is no backup");
    if (!text.startsWith(FORMAT + PLAIN + "\n") && !text.startsWith(FORMAT + WITH_LOGS + "\n")) {
      throw damaged(file, "its format is of a later version; use that version");
    }
    int end = text.lastIndexOf(CHECKSUM);
    if (end < 0
        || !text.substring(end + CHECKSUM.length())
            .strip()
            .equals(checksum(text.substring(0, end)))) {
      throw damaged(file, "it is not what was written");
    }
    try {
      return of(text.substring(0, end).split("\n", -1));
    } catch (RuntimeException malformed) {
      throw damaged(file, String.valueOf(malformed.getMessage()));
    }
  }

  private static IllegalArgumentException damaged(Path file, String why) {
    return new IllegalArgumentException(
        file + " cannot be read: " + why + "; remove it to go on with the other backups there");
  }

  private static BackupPoint of(String[] lines) {
    var groups = new ArrayList<Group>();
    String source = "";
    var files = new ArrayList<Segment>();
    for (int i = 6; i < lines.length; i++) {
      String[] words = lines[i].split(" ", -1);
      if (words[0].equals("group")) {
        if (!source.isEmpty()) groups.add(new Group(source, files));
        source = words[1];
        files.clear();
      } else if (words[0].equals("segment")) {
        files.add(
            new Segment(
                Integer.parseInt(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]),
                Long.parseLong(words[5]),
                Long.parseLong(words[6]),
                Long.parseLong(words[7])));
      }
    }
    groups.add(new Group(source, files));
    return new BackupPoint(
        Integer.parseInt(lines[0].substring(FORMAT.length())),
        Integer.parseInt(value(lines[1], "number")),
        value(lines[2], "origin"),
        Long.parseLong(value(lines[3], "address")),
        Long.parseLong(value(lines[4], "micros")),
        Instant.parse(value(lines[5], "taken")),
        groups);
  }

  private static String value(String line, String name) {
    if (!line.startsWith(name + " ")) throw new IllegalArgumentException("it has no " + name);
    return line.substring(name.length() + 1);
  }
}
