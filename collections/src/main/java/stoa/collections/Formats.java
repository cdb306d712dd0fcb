package stoa.collections;

import stoa.Corrupt;
import stoa.spi.StateInput;

/// The number before each stored state that says how it is written.
final class Formats {
  private Formats() {}

  static void expect(int format, StateInput in) {
    long found = in.number();
    if (found != format) {
      throw new Corrupt("a collection is stored in format " + found + ", not " + format);
    }
  }
}
