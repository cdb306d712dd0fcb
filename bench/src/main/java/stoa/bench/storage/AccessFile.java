package stoa.bench.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The accesses to one object that a file describes, as the benchmark of the VOSD paper reads one
/// (section IV). `docs/bench/storage.md` has the format.
///
/// @param callers the number of accesses at a time
/// @param phases one after the other
record AccessFile(int callers, List<Phase> phases) {
  private static final int CALLERS_MAX = 1024;
  private static final int ACCESSES_MAX = 4 << 20;
  private static final Pattern BYTES = Pattern.compile("(\\d{1,12})([kmg]?)");
  private static final Pattern LINE =
      Pattern.compile("(write|read) (linear|random) (\\S+) (\\d{1,8})(?: in (\\S+))?");
  private static final Pattern ACCESS = Pattern.compile("(write|read) at (\\S+) (\\S+)");
  private static final Pattern CALLERS = Pattern.compile("callers (\\d{1,4})");

  /// The kind of a phase.
  enum Action {
    WRITE,
    READ,
    /// Closes the store and opens it again.
    REOPEN
  }

  /// A number of accesses of one kind.
  ///
  /// @param name its first line
  /// @param offsets where each access begins
  /// @param sizes the bytes of each
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Phase(Action action, String name, long[] offsets, int[] sizes) {
    /// Returns the bytes of all accesses.
    long bytes() {
      long bytes = 0;
      for (int size : sizes) bytes += size;
      return bytes;
    }
  }

  /// Reads a file.
  ///
  /// @throws IllegalArgumentException when a line is wrong; it names it
  static AccessFile read(Path file) throws IOException {
    return parse(Files.readAllLines(file));
  }

  /// Returns what lines describe.
  ///
  /// @throws IllegalArgumentException when a line is wrong; it names it
  static AccessFile parse(List<String> lines) {
    int callers = StorageRun.OPERATIONS;
    var phases = new ArrayList<Phase>();
    @Nullable Listed listed = null;
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replaceAll("#.*", "").strip().replaceAll("\\s+", " ");
      if (line.isEmpty()) continue;
      try {
        Matcher access = ACCESS.matcher(line);
        if (access.matches()) {
          Action action = action(access.group(1));
          if (listed == null || listed.action != action) {
            end(listed, phases);
            listed = new Listed(action, line);
          }
          listed.add(bytes(access.group(2)), size(access.group(3)));
          continue;
        }
        end(listed, phases);
        listed = null;
        Matcher many = LINE.matcher(line);
        Matcher number = CALLERS.matcher(line);
        if (many.matches()) phases.add(phase(many, line));
        else if (number.matches()) callers = Integer.parseInt(number.group(1));
        else if (line.equals("reopen")) phases.add(reopening());
        else throw new IllegalArgumentException("it is no access");
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "line %d, \"%s\": %s; see docs/bench/storage.md".formatted(i + 1, line, e.getMessage()),
            e);
      }
    }
    end(listed, phases);
    if (phases.isEmpty()) throw new IllegalArgumentException("the file describes no access");
    if (callers < 1 || callers > CALLERS_MAX) {
      throw new IllegalArgumentException("callers is " + callers + "; 1 to " + CALLERS_MAX);
    }
    return new AccessFile(callers, List.copyOf(phases));
  }

  /// Accesses whose offsets are in the file.
  private static final class Listed {
    final Action action;
    final String name;
    long[] offsets = new long[16];
    int[] sizes = new int[16];
    int count;

    Listed(Action action, String name) {
      this.action = action;
      this.name = name;
    }

    void add(long offset, int size) {
      if (count >= ACCESSES_MAX) throw tooMany();
      if (count == sizes.length) {
        offsets = Arrays.copyOf(offsets, 2 * count);
        sizes = Arrays.copyOf(sizes, 2 * count);
      }
      offsets[count] = offset;
      sizes[count++] = size;
    }
  }

  private static void end(@Nullable Listed listed, List<Phase> phases) {
    if (listed == null) return;
    int count = listed.count;
    phases.add(
        new Phase(
            listed.action,
            listed.name,
            Arrays.copyOf(listed.offsets, count),
            Arrays.copyOf(listed.sizes, count)));
  }

  private static Phase reopening() {
    return new Phase(Action.REOPEN, "reopen", new long[0], new int[0]);
  }

  private static Phase phase(Matcher line, String name) {
    int size = size(line.group(3));
    int count = Integer.parseInt(line.group(4));
    if (count > ACCESSES_MAX) throw tooMany();
    boolean random = line.group(2).equals("random");
    String in = line.group(5);
    long region = in == null ? (long) size * Math.max(count, 2) : bytes(in);
    if (region < 2L * size) throw new IllegalArgumentException("the region has no two accesses");
    var offsets = new long[count];
    var sizes = new int[count];
    Arrays.fill(sizes, size);
    var numbers = new SplittableRandom(4711L * size + count);
    for (int i = 0; i < count; i++) {
      offsets[i] = random ? numbers.nextLong(region - size) | 1 : i % (region / size) * size;
    }
    return new Phase(action(line.group(1)), name, offsets, sizes);
  }

  private static IllegalArgumentException tooMany() {
    return new IllegalArgumentException("a phase has at most " + ACCESSES_MAX + " accesses");
  }

  private static Action action(String word) {
    return word.equals("write") ? Action.WRITE : Action.READ;
  }

  private static int size(String text) {
    long size = bytes(text);
    if (size >= 1 && size <= StorageRun.SIZE_MAX) return (int) size;
    throw new IllegalArgumentException(
        "the size is " + text + "; an access has 1 to " + StorageRun.SIZE_MAX + " bytes");
  }

  private static long bytes(String text) {
    Matcher bytes = BYTES.matcher(text);
    if (!bytes.matches()) {
      throw new IllegalArgumentException(text + " is no number of bytes, such as 4096, 64k or 1g");
    }
    int shift =
        switch (bytes.group(2)) {
          case "k" -> 10;
          case "m" -> 20;
          case "g" -> 30;
          default -> 0;
        };
    return Long.parseLong(bytes.group(1)) << shift;
  }
}
