package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// Finds files of the product that declare different types by one name: a reader takes them for one
/// thing. Applications, benchmarks, simulations and tests have words of their own.
final class DoubleNames {
  /// The names that stay, and why.
  static final Map<String, String> ACCEPTED =
      Map.of(
          "Index", "an annotation that users write; the device's index, the field's word",
          "Key", "an annotation that users write; a key of the store, the field's word",
          "Member", "a member of a tree of clients; a member of a group of replicas, Raft's word",
          "Operation", "a method as OpenAPI calls it; a record for the log of a device",
          "Span", "logged arguments of collections and of indexes have these names");

  private static final List<String> APART =
      List.of(
          "apps",
          "bench",
          "cassandra",
          "contracts",
          "peers",
          "programs",
          "sim",
          "simulations",
          "test",
          "tidy",
          "trials");

  private DoubleNames() {}

  /// The names that several files have and that are not accepted, and the accepted names that one
  /// file has.
  static List<String> problems(Repository repository, Map<String, String> accepted) {
    var homes = new TreeMap<String, List<String>>();
    for (Path file : repository.files(".java")) {
      String name = file.getFileName().toString().replace(".java", "");
      if (!file.toString().contains("src/main/java") || name.contains("-")) continue;
      if (APART.contains(file.getName(0).toString())) continue;
      Path home = Objects.requireNonNull(file.getParent());
      homes.computeIfAbsent(name, _ -> new ArrayList<>()).add(home.toString());
    }
    var problems = new ArrayList<String>();
    homes.forEach((name, folders) -> {
      if (folders.size() > 1 && !accepted.containsKey(name)) {
        problems.add("%s is the name of types in %s".formatted(name, folders));
      }
    });
    for (String name : new TreeMap<>(accepted).keySet()) {
      if (homes.getOrDefault(name, List.of()).size() < 2) {
        problems.add(name + " is accepted as a name of several types, and is none");
      }
    }
    return problems;
  }
}
