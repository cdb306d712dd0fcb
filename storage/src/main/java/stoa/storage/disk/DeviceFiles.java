package stoa.storage.disk;

import java.util.regex.Pattern;

/// The names of a device's files.
public final class DeviceFiles {
  /// The list of the runs of the index.
  public static final String MANIFEST = "manifest";

  /// The commands of operators on these files, for the audit log of the store: no part of the
  /// device.
  public static final String AUDIT = "audit.pending";

  /// The suffix of an unfinished file: it has no meaning until it is renamed.
  public static final String UNFINISHED = ".new";

  private static final Pattern SEGMENT = Pattern.compile("segment-(\\d{8})");

  private DeviceFiles() {}

  /// Returns whether a file is a segment of the log.
  public static boolean isSegment(String name) {
    return SEGMENT.matcher(name).matches();
  }

  /// Returns the name of a segment.
  public static String segment(int number) {
    return "segment-%08d".formatted(number);
  }
}
