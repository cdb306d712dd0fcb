package stoa.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.front.code.CodeVersion;
import stoa.front.types.SharedType;
import stoa.objects.CodeService;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;

/// The check of [StoaAssertions#assertFits].
final class Fitting {
  private static final long BYTES_MAX = 64L << 20;

  private Fitting() {}

  static void check(Path store, List<Class<?>> classes) {
    if (!Files.isDirectory(store)) {
      throw new IllegalArgumentException(
          store + " is no directory with a store; StoaStore.saveTo(directory) makes one");
    }
    try {
      Path copy = Files.createTempDirectory("stoa-fits");
      try {
        copy(store, copy);
        ClassLoader today = Loaders.ofTest();
        // The code that the store has executes its calls, not the classes of today.
        Loaders.within(
            new Hiding(today),
            () -> {
              try (Stoa opened = EmbeddedEngine.openScratch(StoaConfig.of(url(copy)), BYTES_MAX)) {
                check(store, ObjectService.of(opened, _ -> false).code(), classes, today);
              }
              return copy;
            });
      } finally {
        delete(copy);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(store + " cannot be read", failed);
    }
  }

  private static String url(Path directory) {
    int shards = 0;
    while (Files.isDirectory(directory.resolve("shard-" + shards))) shards++;
    return "file:" + directory + (shards == 0 ? "" : "?shards=" + shards);
  }

  private static void check(
      Path store, CodeService code, List<Class<?>> classes, ClassLoader today) {
    var problems = new ArrayList<String>();
    Set<Class<?>> tried = new LinkedHashSet<>(classes);
    var types = new TreeSet<String>();
    for (Class<?> one : classes) types.add(SharedType.of(one).name());
    boolean empty = true;
    for (CodeService.TypeVersion version : code.versions()) {
      if (!version.active()) continue;
      empty = false;
      if (!classes.isEmpty()) continue;
      Class<?> found = find(code, version, today);
      if (found == null) {
        problems.add(
            version.type()
                + ": no class of today has the name that the store knows; pass the class that takes"
                + " its place, with @Shared(name = \""
                + version.type()
                + "\")");
      } else {
        tried.add(found);
        types.add(version.type());
      }
    }
    if (empty) {
      throw new IllegalArgumentException(store + " has no objects of shared classes");
    }
    if (!tried.isEmpty()) problems.addAll(refusals(code, tried, types));
    if (problems.isEmpty()) return;
    StoaAssertions.failWith(
        "the classes of today do not fit %s:\n  %s\nSee the guide on changing classes."
            .formatted(store, String.join("\n  ", problems)));
  }

  private static List<String> refusals(CodeService code, Set<Class<?>> classes, Set<String> types) {
    var problems = new ArrayList<String>();
    var files = new TreeMap<String, byte[]>();
    for (Class<?> one : classes) {
      try {
        files.putAll(CodeVersion.of(SharedType.of(one).implementation()).files());
        files.putAll(CodeVersion.of(one).files());
      } catch (NotShareable refused) {
        problems.add(one.getName() + ": " + refused.getMessage());
      }
    }
    if (!problems.isEmpty()) return problems;
    var sample = new CodeService.Sample(types, Long.MAX_VALUE, false);
    for (CodeService.Finding finding : code.check(files, sample, _ -> {})) {
      if (finding.fits()) continue;
      String of =
          finding.unfit() == 0
              ? ""
              : "%d of %d objects do not fit; the first is "
                  .formatted(finding.unfit(), finding.objects());
      problems.add(finding.type() + ": " + of + finding.reason());
    }
    return problems;
  }

  /// Returns the class of today that has the name of a stored one; null when there is none.
  private static @Nullable Class<?> find(
      CodeService code, CodeService.TypeVersion version, ClassLoader today) {
    for (String name : code.files(version.type(), version.version()).keySet()) {
      try {
        Class<?> found = Class.forName(name, false, today);
        Shared mark = found.getAnnotation(Shared.class);
        if (mark != null && SharedType.of(found).name().equals(version.type())) return found;
      } catch (ClassNotFoundException | LinkageError gone) {
        // It was renamed, or is needed no more.
      }
    }
    return null;
  }

  /// Has all classes but the shared ones of the program.
  private static final class Hiding extends ClassLoader {
    Hiding(ClassLoader all) {
      super(all);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      Class<?> found = super.loadClass(name, resolve);
      if (!found.isAnnotationPresent(Shared.class)) return found;
      if (CodeVersion.of(found).name() == null) return found; // one of Stoa's own
      throw new ClassNotFoundException(name);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (var files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) Files.createDirectories(target);
        else Files.copy(file, target);
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}
