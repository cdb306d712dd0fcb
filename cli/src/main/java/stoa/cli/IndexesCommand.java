package stoa.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.front.types.Keys;
import stoa.programs.Words;
import stoa.spi.Collections;
import stoa.spi.Indexes;

/// `stoa indexes`: the indexes of a served store, and whether they are right.
@Command(
    name = "indexes",
    description = "Lists the indexes of a served store, or compares them with its objects.",
    footer = {
      "",
      "With --check, it reads all objects that have an index, prints a line for each difference,",
      "and exits with 1 when there is one, or when the server cannot read a map. Clients may call",
      "meanwhile. Indexes of maps are compared with what the maps keep for them;",
      "stoa.checkIndexes(map) in a program computes that anew.",
      "",
      "With --at, a call that was between its steps at that address shows as a difference. Compare",
      "at a later address then, too. An object that was deleted since is compared when an index has it."
    })
final class IndexesCommand implements Callable<Integer> {
  // The key of a part of an index: the type, the id of the index, and the number of the part. The
  // type may be that of a map with any name, so that the last words decide: an id is a word, the
  // name of a member, the form of the values, and a version unless that is 0.
  private static final Pattern PART =
      Pattern.compile(
          "(.*) ((?:index|unique) \\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*"
              + " [a-z(]\\S*(?: -?[0-9]+)?) [0-9]+",
          Pattern.DOTALL);

  private static final Pattern ADDRESS = Pattern.compile("(\\d{1,18}):(\\d{1,18})");

  // In place of the type, for the values of a map: its type and its name.
  private static final Pattern OF_MAP = Pattern.compile("stoa\\.(Map|ShardedMap) ");

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(
      arity = "0..1",
      paramLabel = "TYPE",
      description = "The stored name of a type. Default: all types")
  private @Nullable String type;

  @Option(names = "--check", description = "Compares the indexes with the objects.")
  private boolean check;

  @Option(
      names = "--at",
      paramLabel = "ADDRESS",
      description =
          "With --check: compares both as they were at a log address, EPOCH:COUNTER, such as that of"
              + " a change or of a named snapshot.")
  private @Nullable String at;

  private IndexesCommand() {}

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    try (LookSource source = LookSource.Served.of(operator);
        Stoa stoa = operator.open()) {
      SortedMap<String, SortedSet<String>> all = indexes(source);
      String asked = type;
      if (asked != null) {
        SortedSet<String> of = all.get(asked);
        if (of == null) {
          throw new IllegalArgumentException(
              "the store has no index of " + asked + "; it has some of " + all.keySet());
        }
        all = all.subMap(asked, asked + "\0");
      }
      if (all.isEmpty()) out.println("the store has no indexes");
      LogAddress moment = moment();
      boolean isRight = true;
      for (var of : all.entrySet()) {
        // The entries of a map are in its indexes until another value is put, whatever the class.
        boolean isOfMap = OF_MAP.matcher(of.getKey()).lookingAt();
        List<String> active =
            isOfMap
                ? List.copyOf(of.getValue())
                : Collections.installed().indexes().indexesOf(stoa, of.getKey());
        for (String index : of.getValue()) {
          boolean isActive = active.contains(index);
          out.println(of.getKey() + "  " + index + (isActive ? "" : ", of earlier code"));
          if (check && isActive) isRight &= check(source, stoa, of.getKey(), index, moment, out);
        }
      }
      out.flush();
      return isRight ? 0 : 1;
    }
  }

  private @Nullable LogAddress moment() {
    String asked = at;
    if (asked == null) return null;
    Matcher numbers = ADDRESS.matcher(asked);
    if (!check || !numbers.matches()) {
      String why =
          check ? "is no log address; say EPOCH:COUNTER, 1:42 for example" : "goes with --check";
      throw new ParameterException(
          Objects.requireNonNull(spec).commandLine(), "--at " + asked + " " + why);
    }
    return new LogAddress(Long.parseLong(numbers.group(1)), Long.parseLong(numbers.group(2)));
  }

  private static boolean check(
      LookSource source,
      Stoa stoa,
      String type,
      String index,
      @Nullable LogAddress moment,
      PrintWriter out) {
    Indexes indexes = Collections.installed().indexes();
    Iterable<byte[]> objects = () -> ObjectsCommand.keys(source, type).iterator();
    List<String> differences;
    try {
      differences = indexes.differences(stoa, type, index, objects, moment);
    } catch (NotShareable unread) { // no program has brought the class of a map's values
      out.println("  not checked: " + unread.getMessage());
      return false;
    }
    for (String line : differences) out.println("  " + line);
    if (!differences.isEmpty()) out.println("  " + Words.count(differences.size(), "difference"));
    return differences.isEmpty();
  }

  /// Returns the ids of the indexes, by types.
  private static SortedMap<String, SortedSet<String>> indexes(LookSource source) {
    var found = new TreeMap<String, SortedSet<String>>();
    for (byte[] key : ObjectsCommand.keys(source, "stoa.Index")) {
      Object name = Keys.decode(key, IndexesCommand.class.getClassLoader());
      add(String.valueOf(name), found);
    }
    return found;
  }

  /// Adds the index of a part.
  ///
  /// @param name the key of the part
  static void add(String name, SortedMap<String, SortedSet<String>> found) {
    Matcher part = PART.matcher(name);
    if (part.matches())
      found.computeIfAbsent(part.group(1), _ -> new TreeSet<>()).add(part.group(2));
  }
}
