package stoa.weave;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The program that a build runs after its compiler: `java -cp stoa-weave.jar:stoa-api.jar
/// stoa.weave.WeaveDirectories --classpath LIBRARIES target/classes`. It weaves `new` and static
/// fields as [stoa.Shared] describes into the class files of directories, in place, see
/// [SharedUses]. If it cannot weave a method or field, it changes nothing, names each such method
/// and field with the reason, and exits with status 1.
public final class WeaveDirectories {
  private WeaveDirectories() {}

  /// The result of a run.
  ///
  /// @param woven the files that it changed
  /// @param refusals the methods and fields that cannot be woven, with the reasons; if there are
  ///   any, no file has changed
  public record Report(List<Path> woven, List<String> refusals) {}

  /// Runs the program.
  ///
  /// @param arguments directories, optionally after `--classpath` and jar files and directories
  ///   with the classes that those in the directories use
  public static void main(String[] arguments) throws IOException {
    var directories = new ArrayList<Path>();
    var libraries = new ArrayList<Path>();
    for (int i = 0; i < arguments.length; i++) {
      if (arguments[i].equals("--classpath") && i + 1 < arguments.length) {
        for (String one : arguments[++i].split(File.pathSeparator, -1)) {
          if (!one.isEmpty()) libraries.add(Path.of(one));
        }
      } else {
        directories.add(Path.of(arguments[i]));
      }
    }
    if (directories.isEmpty()) {
      System.err.println(
          "name directories of class files, as in [--classpath PATH] target/classes");
      System.exit(2);
    }
    Report report = weave(directories, libraries);
    report.refusals.forEach(System.err::println);
    if (!report.refusals.isEmpty()) System.exit(1);
    System.out.println("wove " + report.woven.size() + " classes");
  }

  /// Weaves the class files of directories in place.
  ///
  /// @param libraries jar files and directories with the classes that those in the directories use
  /// @throws IllegalArgumentException when one of the directories does not exist
  public static Report weave(List<Path> directories, List<Path> libraries) throws IOException {
    var path = new ArrayList<URL>();
    for (Path directory : directories) {
      if (!Files.isDirectory(directory)) {
        throw new IllegalArgumentException(directory + " is no directory; name one of class files");
      }
      path.add(directory.toUri().toURL());
    }
    for (Path library : libraries) path.add(library.toUri().toURL());
    Map<Path, byte[]> woven = new LinkedHashMap<>();
    var refusals = new ArrayList<String>();
    try (var loader =
        new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      var uses = new SharedUses(loader, refusals::add);
      for (Path directory : directories) {
        for (Path file : classFiles(directory)) {
          byte[] before = Files.readAllBytes(file);
          byte[] after = uses.weave(before);
          if (!Arrays.equals(after, before)) woven.put(file, after);
        }
      }
    }
    if (!refusals.isEmpty()) return new Report(List.of(), List.copyOf(refusals));
    for (var file : woven.entrySet()) replace(file.getKey(), file.getValue());
    return new Report(List.copyOf(woven.keySet()), List.of());
  }

  private static List<Path> classFiles(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
  }

  /// Replaces a file. A build that ends in between leaves the old file or the new one.
  private static void replace(Path file, byte[] bytes) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".woven");
    Files.write(fresh, bytes);
    Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }
}
