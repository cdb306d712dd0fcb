package stoa.sinks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.TooOld;

/// Mirrors the objects of a type in a table of PostgreSQL: a row for each object, with its key, its
/// version, and its state as `jsonb`. One thread uses it.
///
/// The token is a row of the table `stoa_sinks`, written in the transaction of the rows that it
/// covers. So each change of an object shows in the table exactly once, whatever dies when, and no
/// reader of the table sees a part of a transaction of the store.
///
/// @param <T> the type of the objects
public final class PostgresTable<T> {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,62}");

  // How many changes one transaction has at least, when more are there.
  private static final int BATCH = 500;

  private final Connection database;
  private final Class<T> type;
  private final String table;

  /// Creates the tables unless they exist.
  ///
  /// @param database its auto-commit is turned off
  /// @param table the name of the table: small letters, digits and `_`
  public PostgresTable(Connection database, Class<T> type, String table) throws SQLException {
    if (!NAME.matcher(table).matches()) {
      throw new IllegalArgumentException(
          "\"" + table + "\" is no name of a table; use small letters, digits and _");
    }
    this.database = database;
    this.type = type;
    this.table = table;
    database.setAutoCommit(false);
    try (Statement make = database.createStatement()) {
      make.execute(
          "create table if not exists stoa_sinks"
              + " (name text primary key, epoch bigint not null, counter bigint not null)");
      make.execute(
          "create table if not exists "
              + table
              + " (key text primary key, version bigint not null, state jsonb)");
    }
    database.commit();
  }

  private @Nullable LogAddress token() throws SQLException {
    try (PreparedStatement ask =
        database.prepareStatement("select epoch, counter from stoa_sinks where name = ?")) {
      ask.setString(1, table);
      try (ResultSet found = ask.executeQuery()) {
        return found.next() ? new LogAddress(found.getLong(1), found.getLong(2)) : null;
      }
    }
  }

  /// Brings the table up to date until no change comes for a time: from its token on, or first with
  /// the present objects. It begins with these when the table has no token, and when the store has
  /// released changes behind the token. Then they replace all rows, in one transaction.
  ///
  /// @param idleMax the time
  /// @return how many changes it has handled
  public long run(Stoa stoa, Duration idleMax) throws SQLException, InterruptedException {
    LogAddress known = token();
    if (known == null) return run(stoa, null, idleMax);
    try {
      return run(stoa, known, idleMax);
    } catch (TooOld released) {
      return run(stoa, null, idleMax);
    }
  }

  private long run(Stoa stoa, @Nullable LogAddress known, Duration idleMax)
      throws SQLException, InterruptedException {
    Changes<T> what = Changes.of(type).withStates();
    long handled = 0;
    try (ChangeStream<T> changes =
        stoa.changes(known == null ? what.fromPresent() : what.after(known))) {
      if (known == null) {
        try (Statement empty = database.createStatement()) {
          empty.execute("delete from " + table);
        }
      }
      int open = 0;
      while (true) {
        var next = changes.poll();
        if (next.isEmpty()) {
          if (Thread.interrupted()) throw new InterruptedException("a sink was interrupted");
          // The rows become visible before this waits.
          if (open > 0) open = commit(changes.token());
          next = changes.next(idleMax);
          if (next.isEmpty()) break;
        }
        Change<T> change = next.get();
        write(change);
        handled++;
        open++;
        boolean present = change instanceof Change.Present;
        if (!present && change.at().isLast() && open >= BATCH) open = commit(changes.token());
      }
      commit(changes.token());
    } finally {
      database.rollback();
    }
    return handled;
  }

  private void write(Change<T> change) throws SQLException {
    String key = String.valueOf(change.at().object().key());
    if (change instanceof Change.Deleted) {
      try (PreparedStatement delete =
          database.prepareStatement("delete from " + table + " where key = ?")) {
        delete.setString(1, key);
        delete.executeUpdate();
      }
      return;
    }
    try (PreparedStatement put =
        database.prepareStatement(
            "insert into "
                + table
                + " values (?, ?, ?::jsonb) on conflict (key)"
                + " do update set version = excluded.version, state = excluded.state")) {
      put.setString(1, key);
      put.setLong(2, change.at().version());
      put.setString(3, Json.text(Json.state(change.after())));
      put.executeUpdate();
    }
  }

  /// Commits the rows together with their token.
  private int commit(LogAddress token) throws SQLException {
    try (PreparedStatement note =
        database.prepareStatement(
            "insert into stoa_sinks values (?, ?, ?) on conflict (name)"
                + " do update set epoch = excluded.epoch, counter = excluded.counter")) {
      note.setString(1, table);
      note.setLong(2, token.epoch());
      note.setLong(3, token.counter());
      note.executeUpdate();
    }
    database.commit();
    return 0;
  }
}
