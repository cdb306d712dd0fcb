package stoa.storage;

import java.util.regex.Pattern;

/// One file of the log, with the log position of its first byte. Immutable.
record Segment(int number, long base, DiskFile file) {
  private static final Pattern NAME = Pattern.compile("segment-(\\d{8})");

  static String name(int number) {
    return "segment-%08d".formatted(number);
  }

  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  static int number(String name) {
    return Integer.parseInt(name.substring("segment-".length()));
  }
}
