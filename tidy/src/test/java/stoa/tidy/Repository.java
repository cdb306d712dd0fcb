package stoa.tidy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// The files of this repository, or of a sample of one.
///
/// Immutable; the files are read at each call.
record Repository(Path root) {
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
  private static final Set<String> HIDDEN_BUT_OURS = Set.of(".ci", ".mvn");

  /// One Maven module.
  ///
  /// @param name the last part of its folder's name
  /// @param folder its folder, below the root
  record Module(String name, Path folder) {}

  /// The repository that the tests run in.
  static Repository here() {
    for (Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
      if (Files.isDirectory(p.resolve(".mvn"))) return new Repository(p);
    }
    throw new IllegalStateException(
        "no folder above " + Path.of("").toAbsolutePath() + " has .mvn");
  }

  /// The modules that the root `pom.xml` lists, in its order.
  List<Module> modules() {
    return MODULE
        .matcher(text(Path.of("pom.xml")))
        .results()
        .map(m -> Path.of(m.group(1)))
        .map(folder -> new Module(folder.getFileName().toString(), folder))
        .toList();
  }

  /// The files whose names end so, below a folder, in order; without build output and hidden
  /// folders. Paths are relative to the root.
  List<Path> files(Path below, String ending) {
    var found = new ArrayList<Path>();
    try {
      Files.walkFileTree(
          root.resolve(below),
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
              String name = folder.getFileName().toString();
              boolean skipped =
                  name.equals("target")
                      || (name.startsWith(".") && !HIDDEN_BUT_OURS.contains(name));
              return skipped && !folder.equals(root)
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              if (file.toString().endsWith(ending)) found.add(root.relativize(file));
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    found.sort(null);
    return found;
  }

  /// All files whose names end so.
  List<Path> files(String ending) {
    return files(Path.of(""), ending);
  }

  /// Whether there is such a file or folder.
  boolean has(Path file) {
    return Files.exists(root.resolve(file));
  }

  /// A file as text.
  String text(Path file) {
    try {
      return Files.readString(root.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
