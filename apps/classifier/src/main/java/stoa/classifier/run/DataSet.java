package stoa.classifier.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import stoa.classifier.Category;
import stoa.classifier.Connection;

/// Recorded connections in two parts: for training, and for tests. Immutable.
///
/// The order is random, by a seed that is fixed. No record is in it twice, so that none of the
/// tests was trained with. Of each category a quarter is for tests.
///
/// @param training what classifiers learn from
/// @param tests what they are judged by
public record DataSet(List<Connection> training, List<Connection> tests) {
  private static final String SAMPLE = "kdd-sample.csv.gz";
  private static final long SEED = 41;
  private static final int TEST_EVERY = 4;
  private static final int FEATURES = 41;

  /// The sample that comes with this; the README beside it says where it is from.
  public static DataSet sample() throws IOException {
    try (var in = DataSet.class.getResourceAsStream(SAMPLE)) {
      return read(Objects.requireNonNull(in, SAMPLE));
    }
  }

  /// A file of the KDD or NSL-KDD data, gzipped.
  ///
  /// @throws IllegalArgumentException when it has other lines
  public static DataSet of(Path file) throws IOException {
    try (var in = Files.newInputStream(file)) {
      return read(in);
    }
  }

  private static DataSet read(InputStream compressed) throws IOException {
    List<Connection> all = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    try (var in =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(compressed), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (seen.add(features(line))) all.add(Connection.parse(line));
      }
    }
    Collections.shuffle(all, new Random(SEED));
    return divided(all);
  }

  /// Returns the features of a line, which are equal for two lines with the same record, even in
  /// different categories.
  static String features(String line) {
    int end = -1;
    for (int i = 0; i < FEATURES && (i == 0 || end >= 0); i++) end = line.indexOf(',', end + 1);
    return end < 0 ? line : line.substring(0, end);
  }

  private static DataSet divided(List<Connection> all) {
    Map<Category, Integer> counts = new EnumMap<>(Category.class);
    List<Connection> training = new ArrayList<>();
    List<Connection> tests = new ArrayList<>();
    for (var each : all) {
      int number = counts.merge(each.category(), 1, Integer::sum);
      (number % TEST_EVERY == 0 ? tests : training).add(each);
    }
    return new DataSet(List.copyOf(training), List.copyOf(tests));
  }
}
