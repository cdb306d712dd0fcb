package stoa.classifier;

/// A connection as a network recorded it: 41 features, and its category. Immutable; no code changes
/// the array.
///
/// @param protocol `tcp`, `udp` or `icmp`
/// @param service as `http`
/// @param flag how it ended, as `SF`
/// @param numbers the other features, [#NUMBERS] of them, in the order of the data set
/// @param category its true category
public record Connection(
    String protocol, String service, String flag, float[] numbers, Category category) {
  /// How many features are numbers.
  public static final int NUMBERS = 38;

  private static final int FEATURES = 41;

  /// A line of the KDD or NSL-KDD data: the features, a label, and what does not matter here.
  ///
  /// @throws IllegalArgumentException when it is none
  public static Connection parse(String line) {
    String[] fields = line.split(",", -1);
    if (fields.length <= FEATURES) {
      throw new IllegalArgumentException(
          "a record has %d features and a label; this has %d fields: %s"
              .formatted(FEATURES, fields.length, line));
    }
    float[] numbers = new float[NUMBERS];
    numbers[0] = number(fields[0], line);
    for (int i = 1; i < NUMBERS; i++) numbers[i] = number(fields[i + 3], line);
    String label = fields[FEATURES];
    if (label.endsWith(".")) label = label.substring(0, label.length() - 1);
    return new Connection(fields[1], fields[2], fields[3], numbers, Category.of(label));
  }

  private static float number(String field, String line) {
    try {
      float number = Float.parseFloat(field);
      if (number >= 0 && number < Float.POSITIVE_INFINITY) return number;
    } catch (NumberFormatException none) {
      // Said below.
    }
    throw new IllegalArgumentException(field + " is no feature, in the record " + line);
  }
}
