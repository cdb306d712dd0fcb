package stoa.classifier.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import stoa.classifier.Category;
import stoa.classifier.Connection;

/// Makes the sample from the data set: `SampleExtract kddcup.data_10_percent.gz SAMPLE.csv.gz`.
///
/// It leaves out repeated records, and keeps all others of the rare categories and some of the
/// frequent ones.
final class SampleExtract {
  private static final Map<Category, Integer> MOST =
      Map.of(Category.NORMAL, 11_000, Category.DOS, 6_000);
  private static final long SEED = 1999;

  private SampleExtract() {}

  public static void main(String[] args) throws IOException {
    List<String> lines = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    try (var in =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(Path.of(args[0]))),
                StandardCharsets.UTF_8))) {
      in.lines().filter(line -> seen.add(DataSet.features(line))).forEach(lines::add);
    }
    Collections.shuffle(lines, new Random(SEED));
    Map<Category, Integer> counts = new EnumMap<>(Category.class);
    List<String> kept = new ArrayList<>();
    for (var line : lines) {
      var category = Connection.parse(line).category();
      int number = counts.merge(category, 1, Integer::sum);
      if (number <= MOST.getOrDefault(category, Integer.MAX_VALUE)) kept.add(line);
    }
    Collections.sort(kept); // is smaller when compressed; who reads it shuffles it
    try (var out =
        new PrintStream(
            new GZIPOutputStream(Files.newOutputStream(Path.of(args[1]))) {
              {
                def.setLevel(Deflater.BEST_COMPRESSION);
              }
            },
            false,
            StandardCharsets.UTF_8)) {
      kept.forEach(line -> out.print(line + "\n"));
    }
  }
}
