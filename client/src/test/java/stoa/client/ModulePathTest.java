package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleFinder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.StoaConfig;

/// A program on the module path, which requires `stoa.api` and opens the package of its shared
/// classes. The test compiles it, and runs it in processes of its own, with no option of the JVM
/// and with one that refuses `Unsafe`. The JVM warns of nothing.
class ModulePathTest {
  private static final String ACCOUNT =
      """
      package shop;

      import java.util.ArrayList;
      import java.util.List;
      import stoa.Accessor;
      import stoa.Ref;
      import stoa.Shared;
      import stoa.SharedMap;

      @Shared(name = "shop.Account")
      public class Account {
        record Entry(String reason, long amount) {}

        private final List<Entry> entries = new ArrayList<>();

        protected Account() {}

        public void deposit(String reason, long amount) {
          entries.add(new Entry(reason, amount));
        }

        public void move(Account to, long amount) {
          entries.add(new Entry("moved", -amount));
          to.deposit("moved", amount);
        }

        @Accessor
        public long balance() {
          return entries.stream().mapToLong(Entry::amount).sum();
        }
      }
      """;

  private static final String MAIN =
      """
      package shop;

      import stoa.Stoa;

      public final class Main {
        record City(String name) {}

        public static void main(String[] arguments) {
          try (var stoa = Stoa.open(arguments[0])) {
            var from = stoa.get(Account.class, "from");
            var to = stoa.get(Account.class, "to");
            from.deposit("salary", 100);
            from.move(to, 30);
            stoa.transact(() -> {
              from.deposit("fee", -1);
              to.deposit("fee", 1);
            });
            var cities = stoa.map("cities", City.class, Account.class);
            cities.put(new City("Tarragona"), from);
            System.out.println(
                from.balance() + " " + to.balance() + " "
                    + cities.get(new City("Tarragona")).balance() + " "
                    + stoa.history(from).at(1).balance() + " "
                    + Main.class.getModule());
          }
        }
      }
      """;

  private static final String DENY = "--sun-misc-unsafe-memory-access=deny";
  private static final String RIGHT = "69 31 69 100 module shop\n";

  @TempDir Path folder;

  @BeforeEach
  void writeTheProgram() throws IOException {
    write("shop/Account.java", ACCOUNT);
    write("shop/Main.java", MAIN);
  }

  @Test
  void aModularProgramRunsInItsProcess() throws Exception {
    compile("module shop { requires stoa.api; opens shop; }");
    assertEquals(RIGHT, run("memory:"));
    assertEquals(RIGHT, run(DENY, "file:" + folder.resolve("data")));
  }

  @Test
  void aModularProgramRunsAtAServer() throws Exception {
    compile("module shop { requires stoa.api; opens shop; }");
    Process server = serve();
    try (var told = server.inputReader()) {
      String url = told.readLine();
      assertEquals(RIGHT, run(url));
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  @Test
  void aPackageThatIsNotOpenIsNamedWithTheRemedy() throws Exception {
    compile("module shop { requires stoa.api; exports shop; }");
    String said = run("memory:");
    assertTrue(said.contains("add \"opens shop;\" to the module-info of shop"), said);
  }

  @Test
  void thePackageOfAKeyThatIsNotOpenIsNamedWithTheRemedy() throws Exception {
    write("depot/Place.java", "package depot; public record Place(String name) {}");
    write(
        "shop/Main.java",
        """
        package shop;

        import stoa.Stoa;

        public final class Main {
          public static void main(String[] arguments) {
            try (var stoa = Stoa.open(arguments[0])) {
              stoa.map("places", depot.Place.class, String.class).put(new depot.Place("1"), "x");
              System.out.println("put");
            }
          }
        }
        """);
    compile("module shop { requires stoa.api; opens shop; }");
    String said = run("memory:");
    assertTrue(said.contains("add \"opens depot;\" to the module-info of shop"), said);
    compile("module shop { requires stoa.api; opens shop; opens depot to stoa.front; }");
    said = run("memory:");
    assertEquals("put\n", said);
  }

  /// Serves an empty store on the class path, and tells its URL.
  static final class Serving {
    private Serving() {}

    public static void main(String[] arguments) throws IOException {
      try (var server = ServedEngine.serve(StoaConfig.of("memory:"), 0)) {
        System.out.println("stoa://127.0.0.1:" + server.port());
        while (System.in.read() >= 0) {}
      }
    }
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve("src").resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private void compile(String moduleInfo) throws IOException {
    write("module-info.java", moduleInfo);
    var said = new StringWriter();
    var arguments =
        new ArrayList<>(List.of("-d", classes().toString(), "--module-path", modulePath()));
    try (var files = Files.walk(folder.resolve("src"))) {
      files.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(arguments::add);
    }
    int code =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(new PrintWriter(said), new PrintWriter(said), arguments.toArray(String[]::new));
    assertEquals(0, code, said::toString);
  }

  private Path classes() {
    return folder.resolve("classes");
  }

  /// The modules on the class path of this test, without those of tests.
  private static String modulePath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> isModule(Path.of(entry)))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static boolean isModule(Path entry) {
    return Files.exists(entry)
        && !entry.endsWith("test-classes")
        && !ModuleFinder.of(entry).findAll().isEmpty();
  }

  /// Runs the program, and returns what it prints.
  private String run(String url) throws Exception {
    return run("-ea", url);
  }

  /// Runs the program with an option of the JVM, and returns what it prints.
  private String run(String option, String url) throws Exception {
    String path = classes() + File.pathSeparator + modulePath();
    return output(start(option, "--module-path", path, "-m", "shop/shop.Main", url));
  }

  private Process serve() throws IOException {
    String path = classes() + File.pathSeparator + System.getProperty("java.class.path");
    return start(DENY, "-cp", path, Serving.class.getName());
  }

  private Process start(String... arguments) throws IOException {
    var command = new ArrayList<String>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.PIPE)
        .start();
  }

  private static String output(Process process) throws Exception {
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(1, TimeUnit.MINUTES), "the program does not end");
    return said;
  }
}
