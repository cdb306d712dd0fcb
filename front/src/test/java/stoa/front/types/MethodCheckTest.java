package stoa.front.types;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.NotShareable;

class MethodCheckTest {
  /// The interpretation must follow whatever a compiler produces: a stack that is counted wrongly
  /// fails with an exception other than a refusal.
  @Test
  void everyMethodOfALargeLibraryCanBeRead() throws Exception {
    var verifier = new Verifier(MethodCheckTest.class, List.of());
    Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base/java");
    int refused = 0;
    int methods = 0;
    List<Path> classes;
    try (var files = Files.walk(root)) {
      classes = files.filter(p -> p.toString().endsWith(".class")).sorted().toList();
    }
    for (Path file : classes) {
      if (!file.toString().matches(".*/java/(util|time|text|math)/.*")) continue;
      for (MethodModel method : ClassFile.of().parse(Files.readAllBytes(file)).methods()) {
        methods++;
        try {
          new MethodCheck(verifier, Object.class, method).run();
        } catch (NotShareable e) {
          refused++;
        } catch (RuntimeException e) {
          throw new AssertionError(file + " " + method.methodName() + method.methodType(), e);
        }
      }
    }
    assertTrue(methods > 15_000, "only " + methods + " methods");
    assertTrue(refused > 100 && refused < methods / 5, refused + " of " + methods);
  }
}
