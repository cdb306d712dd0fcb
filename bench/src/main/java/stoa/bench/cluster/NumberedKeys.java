package stoa.bench.cluster;

import java.util.ArrayList;
import java.util.List;

/// Keys that are numbers after a word, all of one length, as YCSB makes them. The keys after one of
/// them are known without an index, so a client can scan a store that has no order of keys.
public final class NumberedKeys {
  private NumberedKeys() {}

  /// Returns a key and those after it.
  ///
  /// @param first a word and digits
  /// @param count how many keys to return
  public static List<String> from(String first, int count) {
    int digits = first.length();
    while (digits > 0 && Character.isDigit(first.charAt(digits - 1))) digits--;
    String word = first.substring(0, digits);
    int width = first.length() - digits;
    long number = Long.parseLong(first.substring(digits));
    var keys = new ArrayList<String>(count);
    for (long next = number; next < number + count; next++) {
      String text = Long.toString(next);
      keys.add(word + "0".repeat(Math.max(0, width - text.length())) + text);
    }
    return keys;
  }
}
