package stoa.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/// Takes pictures of each view of the console, in light and dark colors and two sizes, into the
/// directory of its first argument. The second one, if there is one, is an empty directory for the
/// store. A person looks at the pictures; the guide has two.
final class ConsoleShots {
  private static final Map<String, String> VIEWS =
      new TreeMap<>(
          Map.of(
              "cluster", "cluster",
              "rates", "rates",
              "objects", "objects",
              "type", "objects/bank.Account?sizes=true",
              "object", "objects/bank.Account/alice?at=44",
              "hostile", "objects/bank.Account?skip=120",
              "calls", "calls",
              "clients", "clients",
              "code", "code",
              "none", "objects/bank.Account/42"));

  private ConsoleShots() {}

  /// Takes the pictures.
  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createDirectories(Path.of(arguments[0]));
    Path scratch =
        arguments.length > 1
            ? Files.createDirectories(Path.of(arguments[1]))
            : Files.createTempDirectory("console");
    try (var world = new ConsoleWorld(scratch.resolve("store"), Duration.ofMillis(200));
        var browser = new Browser(Browser.find().orElseThrow(), scratch.resolve("profile"))) {
      var endless = world.getStuck();
      var caller = Thread.ofVirtual().start(() -> work(world));
      browser.open(world.url() + "/console/#/rates");
      browser.await("+one('#moment').max > 60");
      browser.show(1120, 600, false);
      browser.open("about:blank");
      browser.open(world.url() + "/console/#/cluster");
      browser.await("all('.lane text').some((note) => note.textContent.includes('calls/s'))");
      Files.write(directory.resolve("console.png"), browser.window());
      browser.show(1120, 700, false);
      browser.open("about:blank");
      browser.open(world.url() + "/console/#/objects/bank.Account/alice?at=17");
      browser.await("one('tr.added')");
      Files.write(directory.resolve("console-object.png"), browser.window());
      for (var view : VIEWS.entrySet()) {
        browser.show(1280, 860, false);
        browser.open("about:blank");
        browser.open(world.url() + "/console/#/" + view.getValue());
        browser.await(
            "one('main h1') && !one('[aria-busy=true]') && one('main td, main .trouble, .chart"
                + " b')");
        if (view.getKey().equals("object")) browser.await("one('tr.added')");
        if (view.getKey().equals("calls")) browser.await("one('tr.waits')");
        shoot(browser, directory, view.getKey());
      }
      browser.open("about:blank");
      browser.open(world.url() + "/console/#/cluster");
      world.lose();
      browser.await("one('.server.away')");
      shoot(browser, directory, "lost");
      try (var guarded = ConsoleWorld.guarded(scratch.resolve("guarded"))) {
        browser.open("about:blank");
        browser.open("http://" + guarded.http() + "/console/");
        browser.await("one('#token')");
        shoot(browser, directory, "token");
      }
      caller.interrupt();
      caller.join();
      endless.cancel(true);
    }
  }

  private static void shoot(Browser browser, Path directory, String name) throws Exception {
    for (int width : new int[] {1280, 400}) {
      for (boolean isDark : new boolean[] {false, true}) {
        browser.show(width, width == 400 ? 800 : 860, isDark);
        String file = name + "-" + width + (isDark ? "-dark" : "") + ".png";
        Files.write(directory.resolve(file), browser.picture());
      }
    }
  }

  private static void work(ConsoleWorld world) {
    for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
      world
          .stoa()
          .get(ConsoleWorld.Account.class, "customer-%03d".formatted(i % 100))
          .deposit(1, "x");
      if (i % 3 == 0) world.stoa().get(ConsoleWorld.Visits.class, "page-" + i % 8).add();
    }
  }
}
