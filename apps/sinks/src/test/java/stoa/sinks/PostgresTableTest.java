package stoa.sinks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Keep;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;

/// A mirror in a real PostgreSQL, which the test starts in a folder of its own. Where Debian's
/// package is not installed, there is none.
class PostgresTableTest {
  private static final Path PROGRAMS = Path.of("/usr/lib/postgresql");
  private static final Duration IDLE = Duration.ofMillis(1);

  /// A server of PostgreSQL with one database, reached over a socket of TCP.
  private record Postgres(Path programs, Path data, int port) implements AutoCloseable {
    static Postgres start(Path folder) throws IOException {
      Path programs;
      try (var versions = Files.list(PROGRAMS)) {
        programs = versions.sorted().toList().getLast().resolve("bin");
      }
      int port;
      try (var free = new java.net.ServerSocket(0)) {
        port = free.getLocalPort();
      }
      var postgres = new Postgres(programs, folder.resolve("data"), port);
      if (isRoot()) {
        run(List.of("chown", "postgres", folder.toString()), folder);
      }
      postgres.run("initdb", "-D", postgres.data.toString(), "-U", "sink", "-A", "trust", "-N");
      String options = "-p " + port + " -c listen_addresses=127.0.0.1 -c unix_socket_directories=";
      postgres.run("pg_ctl", "-D", postgres.data.toString(), "-o", options, "-w", "start");
      return postgres;
    }

    private static boolean isRoot() {
      return System.getProperty("user.name").equals("root");
    }

    private void run(String program, String... arguments) throws IOException {
      var command = new ArrayList<String>();
      if (isRoot()) command.addAll(List.of("runuser", "-u", "postgres", "--"));
      command.add(programs.resolve(program).toString());
      command.addAll(List.of(arguments));
      run(command, data.resolveSibling("."));
    }

    private static void run(List<String> command, Path folder) throws IOException {
      Path out = Files.createTempFile("postgres", ".out");
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(out.toFile())
              .start();
      if (process.onExit().completeOnTimeout(process, 60, TimeUnit.SECONDS).join().isAlive()) {
        process.destroyForcibly();
      } else if (process.exitValue() == 0) {
        return;
      }
      throw new AssertionError(command + ": " + Files.readString(out));
    }

    Connection connect() throws SQLException {
      return DriverManager.getConnection(
          "jdbc:postgresql://127.0.0.1:" + port + "/postgres", "sink", "");
    }

    @Override
    public void close() throws IOException {
      run("pg_ctl", "-D", data.toString(), "-m", "immediate", "-w", "stop");
    }
  }

  private static SortedMap<String, String> rows(Connection database, String table)
      throws SQLException {
    var rows = new TreeMap<String, String>();
    try (var ask = database.createStatement();
        var found = ask.executeQuery("select key, state ->> 'balance' from " + table)) {
      while (found.next()) rows.put(found.getString(1), found.getString(2));
    }
    database.commit();
    return rows;
  }

  @Test
  void aTableMirrorsATypeExactlyOnce(@TempDir Path folder) throws Exception {
    assumeTrue(Files.isDirectory(PROGRAMS));
    try (var postgres = Postgres.start(folder);
        Stoa stoa = Stoa.open(StoaConfig.of("memory:").withKeep(Keep.all()))) {
      var alice = stoa.get(JsonLinesTest.Account.class, "alice");
      var bob = stoa.get(JsonLinesTest.Account.class, "bob");
      alice.add(5);
      bob.add(7);
      try (Connection database = postgres.connect()) {
        var table = new PostgresTable<>(database, JsonLinesTest.Account.class, "accounts");
        assertEquals(2, table.run(stoa, IDLE));
        stoa.transact(() -> {
          alice.add(-2);
          bob.add(2);
        });
        assertEquals(2, table.run(stoa, IDLE));
        assertEquals("{alice=3, bob=9}", rows(database, "accounts").toString());
        alice.add(1);
        stoa.delete(bob);
        Thread.currentThread().interrupt(); // this run ends before it commits
        assertThrows(InterruptedException.class, () -> table.run(stoa, Duration.ofDays(1)));
        assertEquals("{alice=3, bob=9}", rows(database, "accounts").toString());
      }
      try (Connection database = postgres.connect()) {
        var table = new PostgresTable<>(database, JsonLinesTest.Account.class, "accounts");
        assertEquals(2, table.run(stoa, IDLE));
        assertEquals("{alice=4}", rows(database, "accounts").toString());
        assertEquals(0, table.run(stoa, IDLE));
        for (int i = 0; i < 10; i++) alice.add(1);
        stoa.get(JsonLinesTest.Account.class, "carol").add(2);
        long version = stoa.history(alice).version();
        assertEquals(version, stoa.history(alice).trim(version));
        assertEquals(2, table.run(stoa, IDLE)); // the changes behind the token were released
        assertEquals("{alice=14, carol=2}", rows(database, "accounts").toString());
        database.commit();
        charactersThatADatabaseRefusesAreReplaced(stoa, database);
        stoa.delete(stoa.get(Note.class, "a\0b"));
        recordsOfOneTextHaveRowsOfTheirOwn(stoa, database);
        aTableThatNoSinkHasMadeIsRefused(database);
        keysOfOneTextHaveRowsOfTheirOwn(stoa, database);
        aTableOfAnEarlierVersionBeginsAnew(
            stoa, database, "key text primary key, version bigint not null, state jsonb", "");
        aTableOfAnEarlierVersionBeginsAnew(
            stoa,
            database,
            "key text not null, version bigint not null, state jsonb,"
                + " kind text not null default '', primary key (key, kind)",
            ", 'Long'");
        theProgramMirrorsAType(postgres, database);
      }
    }
  }

  @Shared(name = "sinks.Note")
  static class Note {
    private String text = "";

    public void write(String more) {
      text = more;
    }

    @Accessor
    public String text() {
      return text;
    }
  }

  private static void charactersThatADatabaseRefusesAreReplaced(Stoa stoa, Connection database)
      throws Exception {
    stoa.get(Note.class, "a\0b").write("none \0, six \\u0000, half \ud800, whole \ud83d\ude00");
    var table = new PostgresTable<>(database, Note.class, "notes");
    assertEquals(1, table.run(stoa, IDLE));
    try (var ask = database.createStatement();
        var found = ask.executeQuery("select key, state ->> 'text' from notes")) {
      assertTrue(found.next());
      assertEquals("a\ufffdb", found.getString(1));
      assertEquals("none \ufffd, six \\u0000, half \ufffd, whole \ud83d\ude00", found.getString(2));
    }
    database.commit();
  }

  /// A key. Two of them may have the same text.
  record Place(String town, String street) {}

  private static void recordsOfOneTextHaveRowsOfTheirOwn(Stoa stoa, Connection database)
      throws Exception {
    var one = new Place("Ulm, street=A", "B");
    var other = new Place("Ulm", "A, street=B");
    assertEquals(one.toString(), other.toString());
    Note first = stoa.get(Note.class, one);
    first.write("first");
    stoa.get(Note.class, other).write("other");
    // An ordered index of PostgreSQL refuses such texts.
    String plenty =
        new Random(31)
            .ints(4_000, 'a', 'z' + 1)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    stoa.get(Note.class, plenty).write("long");
    var table = new PostgresTable<>(database, Note.class, "places");
    assertEquals(3, table.run(stoa, IDLE));
    assertEquals(
        List.of(
            plenty + " String: long",
            one + " " + Place.class.getName() + ": first",
            one + " " + Place.class.getName() + ": other"),
        notes(database, "places"));
    stoa.delete(first);
    stoa.delete(stoa.get(Note.class, plenty));
    assertEquals(2, table.run(stoa, IDLE));
    assertEquals(List.of(one + " " + Place.class.getName() + ": other"), notes(database, "places"));
    stoa.delete(stoa.get(Note.class, other));
  }

  private static void aTableThatNoSinkHasMadeIsRefused(Connection database) throws SQLException {
    for (String columns :
        List.of("id bigint, total bigint", "id bigint, key text, version bigint, state jsonb")) {
      try (var make = database.createStatement()) {
        make.execute("create table invoices (" + columns + ")");
      }
      database.commit();
      IllegalArgumentException refused =
          assertThrows(
              IllegalArgumentException.class,
              () -> new PostgresTable<>(database, Note.class, "invoices"));
      String text = Objects.requireNonNull(refused.getMessage());
      assertTrue(
          text.startsWith("no sink has made the table invoices, whose columns are {id=bigint, "),
          text);
      try (var drop = database.createStatement()) {
        drop.execute("drop table invoices");
      }
      database.commit();
    }
  }

  private static List<String> notes(Connection database, String table) throws SQLException {
    var rows = new ArrayList<String>();
    try (var ask = database.createStatement();
        var found =
            ask.executeQuery(
                "select key, kind, state ->> 'text' from "
                    + table
                    + " order by kind collate \"C\", (state ->> 'text') collate \"C\"")) {
      while (found.next()) {
        rows.add(found.getString(1) + " " + found.getString(2) + ": " + found.getString(3));
      }
    }
    database.commit();
    return rows;
  }

  private static void keysOfOneTextHaveRowsOfTheirOwn(Stoa stoa, Connection database)
      throws Exception {
    Note number = stoa.get(Note.class, 1L);
    Note text = stoa.get(Note.class, "1");
    number.write("number");
    text.write("text");
    stoa.get(Note.class, 1).write("small number");
    stoa.get(Note.class, TimeUnit.DAYS).write("constant");
    var table = new PostgresTable<>(database, Note.class, "notes");
    table.run(stoa, IDLE);
    assertEquals(
        List.of(
            "1 Integer: small number",
            "1 Long: number",
            "1 String: text",
            "DAYS TimeUnit: constant"),
        notes(database, "notes"));
    stoa.delete(number);
    text.write("longer text");
    table.run(stoa, IDLE);
    assertEquals(
        List.of("1 Integer: small number", "1 String: longer text", "DAYS TimeUnit: constant"),
        notes(database, "notes"));
  }

  private static void aTableOfAnEarlierVersionBeginsAnew(
      Stoa stoa, Connection database, String columns, String kind) throws Exception {
    try (var make = database.createStatement()) {
      make.execute("create table old_notes (" + columns + ")");
      make.execute(
          "insert into old_notes values ('1', 1, '{\"text\": \"of one of them\"}'" + kind + ")");
      make.execute(
          "insert into stoa_sinks select 'old_notes', epoch, counter from stoa_sinks"
              + " where name = 'notes'");
    }
    database.commit();
    for (int i = 0; i < 2; i++) {
      var table = new PostgresTable<>(database, Note.class, "old_notes");
      assertEquals(i == 0 ? 3 : 0, table.run(stoa, IDLE));
      assertEquals(notes(database, "notes"), notes(database, "old_notes"));
    }
    try (var drop = database.createStatement()) {
      drop.execute("drop table old_notes");
      drop.execute("delete from stoa_sinks where name = 'old_notes'");
    }
    database.commit();
  }

  private static void theProgramMirrorsAType(Postgres postgres, Connection database)
      throws Exception {
    String place = "jdbc:postgresql://127.0.0.1:" + postgres.port + "/postgres?user=sink";
    try (var served = new ServedSink("mirror", place);
        Stoa stoa = Stoa.open("stoa://" + served.address())) {
      JsonLinesTest.Account alice = stoa.get(JsonLinesTest.Account.class, "alice");
      alice.add(5);
      assertEquals("1 change", served.once());
      assertEquals("{alice=5}", rows(database, "mirror").toString());
      alice.add(1);
      assertEquals("1 change", served.once());
      assertEquals("{alice=6}", rows(database, "mirror").toString());
    }
  }
}
