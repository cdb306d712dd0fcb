package stoa.storage.disk;

import java.util.regex.Pattern;

/// How the files of a device are called.
public final class DeviceFiles {
  /// Which runs make up the index.
  public static final String MANIFEST = "manifest";

  /// Behind the name of a file that is being made: without meaning until it is renamed.
  public static final String UNFINISHED = ".new";

  private static final Pattern SEGMENT = Pattern.compile("segment-(\\d{8})");

  private DeviceFiles() {}

  /// Whether a file is a segment of the log.
  public static boolean isSegment(String name) {
    return SEGMENT.matcher(name).matches();
  }

  /// The name of a segment.
  public static String segment(int number) {
    return "segment-%08d".formatted(number);
  }
}
