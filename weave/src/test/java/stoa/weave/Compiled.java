package stoa.weave;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/// Users' classes, compiled by a test.
final class Compiled {
  private Compiled() {}

  /// Compiles one source file into a folder.
  static Path compile(Path folder, String className, String source, String... options) {
    try {
      Path file = folder.resolve(className + ".java");
      Files.writeString(file, source);
      var arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", folder.toString()));
      arguments.addAll(List.of(options));
      var compiler = ToolProvider.getSystemJavaCompiler();
      var said = new StringWriter();
      try (var files = compiler.getStandardFileManager(null, null, null)) {
        boolean done =
            compiler
                .getTask(said, files, null, arguments, null, files.getJavaFileObjects(file))
                .call();
        assertTrue(done, said.toString());
      }
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// The class files of a folder.
  static List<byte[]> classFiles(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".class"))
          .sorted()
          .map(Compiled::read)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
