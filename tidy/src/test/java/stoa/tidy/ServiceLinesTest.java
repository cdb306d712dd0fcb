package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Counts the lines of StackSync on shared objects and on SQL, and compares them with the table of
/// `docs/bench/stacksync.md`.
class ServiceLinesTest {
  private static final String STOA = "apps/stacksync/src/main/java/stoa/stacksync/";
  private static final String SQL = "peers/src/main/java/stoa/peers/";
  private static final String SCHEMA = "peers/src/main/resources/stoa/peers/stacksync.sql";

  /// One way to write the service.
  ///
  /// @param name in the table
  /// @param files the files that make it, besides the requests, answers and values, which all ways
  ///   have in common
  private record Way(String name, List<String> files) {}

  private static List<Way> ways() {
    var rules =
        List.of(
            "Contents",
            "Item",
            "EmbeddedItem",
            "Charge",
            "Purse",
            "Place",
            "Departure",
            "Arrival",
            "Moves");
    var embedded = List.of("User", "UserDevice", "Workspace");
    var everything = List.of("SharedItem", "SharedVersion", "SharedChunk", "SharedDevice");
    var sql = List.of(SCHEMA, SQL + "SqlService.java", SQL + "ConnectionPool.java");
    return List.of(
        new Way("Stoa, `items-embedded`", java(rules, embedded, List.of("Facade", "Directory"))),
        new Way(
            "Stoa, `everything-shared`",
            java(rules, embedded, everything, List.of("Facade", "Directory"))),
        new Way(
            "Stoa, `facade-alone`",
            java(rules, List.of("EmbeddedUser", "WholeFacade", "FacadeRouter"))),
        new Way(
            "Stoa, as in the papers' listings, woven",
            java(rules, embedded, List.of("SharedDevice", "papers/Facade"))),
        new Way("PostgreSQL, stored procedures", sql),
        new Way("PostgreSQL, JDBC batches", and(sql, "RowRules", "JdbcService")),
        new Way("PostgreSQL, Hibernate", and(sql, "RowRules", "HibernateService")));
  }

  @SafeVarargs
  private static List<String> java(List<String>... names) {
    var files = new ArrayList<String>();
    for (var some : names) some.forEach(name -> files.add(STOA + name + ".java"));
    return files;
  }

  private static List<String> and(List<String> files, String... names) {
    var all = new ArrayList<>(files);
    for (var name : names) all.add(SQL + name + ".java");
    return all;
  }

  @Test
  void theTableOfLinesIsThatOfTheCode() throws IOException {
    var repository = Repository.here();
    var table = new StringBuilder("| service | lines of Java | lines of SQL |\n|---|---|---|\n");
    for (var way : ways()) {
      long java = 0;
      long sql = 0;
      for (var file : way.files) {
        long lines = lines(repository.text(Path.of(file)).lines().toList());
        if (file.endsWith(".sql")) sql += lines;
        else java += lines;
      }
      table.append("| %s | %d | %d |\n".formatted(way.name, java, sql));
    }
    var page = repository.text(Path.of("docs/bench/stacksync.md"));
    assertTrue(page.contains(table), () -> "docs/bench/stacksync.md should have\n" + table);
  }

  @Test
  void commentsImportsAndBlankLinesDoNotCount() {
    var code =
        List.of(
            "package a;",
            "import b;",
            "",
            "/// Says what it is.",
            "class A { // here",
            "  /*",
            "   * (1) more",
            "   */",
            "  int a;",
            "-- a comment of SQL",
            "}");
    assertEquals(3, lines(code));
  }

  /// Counts the lines with code.
  private static long lines(List<String> lines) {
    long count = 0;
    boolean comment = false;
    for (var line : lines) {
      var text = line.strip();
      if (text.startsWith("/*")) comment = true;
      boolean code =
          !comment
              && !text.isEmpty()
              && !text.startsWith("//")
              && !text.startsWith("--")
              && !text.startsWith("import ")
              && !text.startsWith("package ");
      if (code) count++;
      if (text.endsWith("*/")) comment = false;
    }
    return count;
  }
}
