package stoa.tidy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// Runs several programs one after the other in one process.
final class RunPrograms {
  private RunPrograms() {}

  /// Runs each program in a class loader of its own. The process ends with 0 when all have printed
  /// something, and no thread of theirs is left.
  ///
  /// @param args a folder of classes and the name of the main class in it, and so on
  /// @throws Exception the first one that a program throws
  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    for (int i = 0; i < args.length; i += 2) {
      Path folder = Path.of(args[i]);
      String name = args[i + 1];
      out.println("running " + folder.resolve(name));
      var printed = new ByteArrayOutputStream();
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      URL[] classes = {folder.toUri().toURL()};
      // It stays open, as a process's class path does.
      var loader = new URLClassLoader(classes, RunPrograms.class.getClassLoader());
      Thread.currentThread().setContextClassLoader(loader);
      loader.loadClass(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
      if (printed.size() == 0)
        throw new IllegalStateException(folder.resolve(name) + " prints nothing");
    }
  }
}
