package stoa.bench.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.programs.Directories;

/// One run of the storage benchmark: the common data of its phases.
///
/// One thread runs the phases, one after the other.
///
/// @param folder the parent of the contenders' folders
/// @param scale how long and how large
/// @param contenders the contenders, in the order of tables
/// @param content the written bytes
/// @param samples the measurements so far
/// @param progress receives the present measurement
record StorageRun(
    Path folder,
    StorageScale scale,
    List<Contender> contenders,
    Content content,
    Samples samples,
    Consumer<String> progress) {
  /// The number of concurrent operations, as in the paper.
  static final int OPERATIONS = 32;

  /// The largest access.
  static final int SIZE_MAX = 4 << 20;

  /// The name of the bare disk among the contenders.
  static final String RAW = "bare file";

  /// Returns the kind of threads for many callers of a contender.
  static Load.Threads threads(Contender contender, int callers) {
    return callers == 1 || contender.blocksThreads() || callers <= OPERATIONS
        ? Load.Threads.PLATFORM
        : Load.Threads.VIRTUAL;
  }

  /// Returns the contenders that keep long objects.
  List<Contender> objectStores() {
    return contenders.stream().filter(Contender::keepsObjects).toList();
  }

  /// Returns a contender's folder.
  Path place(String name) {
    return folder.resolve(name.replace(' ', '-'));
  }

  /// Creates a contender's folder, empty.
  Path fresh(String name) throws IOException {
    Path fresh = place(name);
    Directories.delete(fresh);
    return Files.createDirectories(fresh);
  }

  /// Takes the samples of some points, all of them in each round. The first contender changes from
  /// point to point and from round to round, so that none gains by earlier work of the disk.
  /// Another round begins only when there is time for all of it.
  <P> void rounds(List<P> points, Function<P, List<Step>> steps) throws Exception {
    int turn = 0;
    long start = System.nanoTime();
    for (int round = 1; round <= scale.rounds(); round++) {
      long passed = System.nanoTime() - start;
      if (passed + passed / Math.max(1, round - 1) > scale.partMax().toNanos()) return;
      for (P point : points) {
        var order = new ArrayList<>(steps.apply(point));
        Collections.rotate(order, turn++);
        for (Step step : order) {
          progress.accept("round %d of %d: %s".formatted(round, scale.rounds(), step.name));
          step.act.sample();
        }
      }
    }
  }

  /// The taking of one sample.
  ///
  /// @param name the name of the measure
  /// @param act takes it
  record Step(String name, Act act) {
    /// Takes a sample.
    @FunctionalInterface
    interface Act {
      void sample() throws Exception;
    }
  }

  /// A pattern of access and a size.
  record Point(Pattern pattern, int size) {}

  /// Returns the points of the paper's Figures 3 and 4.
  List<Point> points() {
    return Stream.of(Pattern.values())
        .flatMap(pattern -> scale.sizes().stream().map(size -> new Point(pattern, size)))
        .toList();
  }

  /// Returns a size in words, as `64 KiB`.
  static String words(long bytes) {
    if (bytes >= 1 << 30 && bytes % (1 << 30) == 0) return (bytes >> 30) + " GiB";
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return (bytes >> 20) + " MiB";
    if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return (bytes >> 10) + " KiB";
    return String.format(Locale.ROOT, "%d B", bytes);
  }
}
