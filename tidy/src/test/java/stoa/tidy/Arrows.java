package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// Finds modules that depend on a module which is not below them.
final class Arrows {
  /// What each module may depend on, at run time. A layer may use any layer below it.
  static final Map<String, Set<String>> ALLOWED = new LinkedHashMap<>();

  static {
    var caller = Set.of("api", "base", "front");
    var engine = Set.of("api", "base", "front", "storage", "log", "store", "objects");
    ALLOWED.put("api", Set.of());
    ALLOWED.put("weave", Set.of("api"));
    ALLOWED.put("maven-plugin", Set.of("api", "weave"));
    ALLOWED.put("base", Set.of());
    ALLOWED.put("front", Set.of("api", "base"));
    ALLOWED.put("storage", Set.of("base"));
    ALLOWED.put("log", Set.of("api", "base", "storage"));
    ALLOWED.put("raft", Set.of("api", "base", "storage", "log", "transport"));
    ALLOWED.put("store", Set.of("api", "base", "storage", "log"));
    ALLOWED.put("objects", Set.of("api", "base", "front", "storage", "log", "store"));
    ALLOWED.put("metrics", caller);
    ALLOWED.put("traces", caller);
    ALLOWED.put("collections", caller);
    ALLOWED.put("migration", caller);
    ALLOWED.put("embedded", with(engine, "collections", "migration"));
    ALLOWED.put("transport", Set.of("base"));
    ALLOWED.put("wire", Set.of("api", "base", "transport"));
    ALLOWED.put("links", with(caller, "migration", "transport"));
    ALLOWED.put("node", with(engine, "transport", "wire", "links", "migration"));
    ALLOWED.put("client", with(caller, "transport", "wire", "migration", "links", "collections"));
    ALLOWED.put("http", with(engine, "node", "wire", "transport"));
    ALLOWED.put("contracts", Set.of());
    ALLOWED.put("cluster", with(engine, "transport", "wire", "node", "raft"));
    ALLOWED.put("spring-boot-starter", Set.of("api", "metrics"));
    ALLOWED.put("programs", Set.of("api"));
    var servers =
        with(
            engine,
            "weave",
            "metrics",
            "traces",
            "collections",
            "migration",
            "transport",
            "wire",
            "links",
            "node",
            "client",
            "http",
            "cluster",
            "raft",
            "programs");
    ALLOWED.put("cli", servers);
    ALLOWED.put("stacksync", Set.of("api"));
    ALLOWED.put("sinks", with(caller, "programs", "client"));
    ALLOWED.put("classifier", with(engine, "migration"));
    ALLOWED.put("demo", with(servers, "cli", "stacksync", "classifier"));
    ALLOWED.put("sim", with(engine, "collections", "migration"));
    ALLOWED.put("simulations", Set.of());
    ALLOWED.put("test", with(servers, "sim"));
    // It names them, and depends on none.
    ALLOWED.put("bom", with(servers, "embedded", "spring-boot-starter", "sim", "test"));
    ALLOWED.put(
        "bench",
        with(engine, "programs", "collections", "migration", "classifier", "stacksync", "cli"));
    ALLOWED.put("trials", with(servers, "cli", "sim", "bench"));
    ALLOWED.put("peers", with(engine, "programs", "collections", "bench", "trials", "stacksync"));
    ALLOWED.put("cassandra", Set.of("programs", "bench", "peers"));
    ALLOWED.put("tidy", with(servers, "cli", "demo", "spring-boot-starter", "test"));
  }

  private static final Pattern DEPENDENCY =
      Pattern.compile(
          "<dependency>\\s*<groupId>dev.stoa</groupId>(.*?)</dependency>", Pattern.DOTALL);
  private static final Pattern ARTIFACT =
      Pattern.compile("<artifactId>stoa-([a-z-]+)</artifactId>");
  private static final Pattern ANY_DEPENDENCY =
      Pattern.compile("<dependency>(.*?)</dependency>", Pattern.DOTALL);
  private static final Pattern ANY_ARTIFACT = Pattern.compile("<artifactId>([^<]+)</artifactId>");

  private Arrows() {}

  private static Set<String> with(Set<String> some, String... more) {
    var all = new TreeSet<>(some);
    all.addAll(List.of(more));
    return all;
  }

  /// The arrows that are not allowed, and the modules that have no place in the order.
  static List<String> problems(Repository repository, Map<String, Set<String>> allowed) {
    var problems = new ArrayList<String>();
    for (var module : repository.modules()) {
      Set<String> below = allowed.get(module.name());
      if (below == null) {
        problems.add(module.name() + " has no place among the layers; give it one in Arrows");
        continue;
      }
      for (String target : dependencies(repository.text(module.folder().resolve("pom.xml")))) {
        if (!below.contains(target)) {
          problems.add("%s depends on %s, which is not below it".formatted(module.name(), target));
        }
      }
    }
    return problems;
  }

  /// The modules that a `pom.xml` names as dependencies, those of tests left out: a test may stand
  /// above its layer.
  static List<String> dependencies(String pom) {
    var found = new ArrayList<String>();
    DEPENDENCY
        .matcher(pom)
        .results()
        .map(dependency -> dependency.group(1))
        .filter(text -> !text.contains("<scope>test</scope>"))
        .forEach(text ->
            ARTIFACT.matcher(text).results().forEach(artifact -> found.add(artifact.group(1))));
    return found;
  }

  /// The dependencies that a module has for its tests alone, while a module below it runs with
  /// them: Maven then leaves them out of the programs of the upper module.
  static List<String> narrowed(Repository repository) {
    Map<String, String> poms = new LinkedHashMap<>();
    repository
        .modules()
        .forEach(
            module -> poms.put(module.name(), repository.text(module.folder().resolve("pom.xml"))));
    var problems = new ArrayList<String>();
    poms.forEach((name, pom) -> {
      Set<String> tested = artifacts(pom, true);
      Map<String, String> lower = new LinkedHashMap<>();
      addBelow(pom, poms, lower);
      lower.forEach((other, its) -> {
        var both = new TreeSet<>(artifacts(its, false));
        both.retainAll(tested);
        both.forEach(artifact ->
            problems.add(
                "%s has %s for its tests alone, but %s runs with it; give it the scope runtime"
                    .formatted(name, artifact, other)));
      });
    });
    return problems;
  }

  private static void addBelow(String pom, Map<String, String> poms, Map<String, String> found) {
    for (String lower : dependencies(pom)) {
      String its = poms.get(lower);
      if (its != null && found.put(lower, its) == null) addBelow(its, poms, found);
    }
  }

  /// The artifacts of any group that a `pom.xml` names as dependencies of the module itself.
  private static Set<String> artifacts(String pom, boolean ofTests) {
    var found = new TreeSet<String>();
    String own = pom.replaceFirst("(?s)<build>.*", "");
    ANY_DEPENDENCY
        .matcher(own)
        .results()
        .map(dependency -> dependency.group(1))
        .filter(text -> text.contains("<scope>test</scope>") == ofTests)
        .forEach(text ->
            ANY_ARTIFACT.matcher(text).results().limit(1).forEach(one -> found.add(one.group(1))));
    return found;
  }

  /// The `pom.xml` files that no module of the root's list accounts for, but that of the sample
  /// application, which a test of `trials` builds outside the sources.
  static List<String> strays(Repository repository) {
    var listed = new TreeSet<Path>();
    listed.add(Path.of("pom.xml"));
    listed.add(Path.of("apps/tickets/pom.xml"));
    repository.modules().forEach(module -> listed.add(module.folder().resolve("pom.xml")));
    return repository.files("pom.xml").stream()
        .filter(pom -> !listed.contains(pom))
        .map(pom -> pom + " belongs to no module of the root's list")
        .toList();
  }
}
