package stoa.sinks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.Subscription;

/// Mirrors the objects of a type in a table of PostgreSQL: a row for each object, with the text of
/// its key, its version, its state as `jsonb`, and the class of its key, the `kind`. So the keys
/// `1` and `"1"` have two rows. One thread uses it.
///
/// The token is a row of the table `stoa_sinks`, written in the transaction of the rows that it
/// covers. So each change of an object shows in the table exactly once, whatever dies when, and no
/// reader of the table sees a part of a transaction of the store.
///
/// A text of PostgreSQL cannot have the character U+0000, nor half of a surrogate pair. The table
/// has U+FFFD in their place, and the `kind` has the exact text of such a key.
///
/// A table of an earlier version gets the column `kind`, and begins anew: the present objects
/// replace its rows in one transaction.
///
/// @param <T> the type of the objects
public final class PostgresTable<T> {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,62}");

  // The characters that a text of PostgreSQL cannot have: U+0000, and half of a surrogate pair.
  private static final Pattern REFUSED = Pattern.compile("[\\x00\\p{Cs}]");

  // An escape in JSON: a surrogate pair; in the group, one of a character that is refused; others.
  private static final Pattern ESCAPE =
      Pattern.compile("\\\\ud[89ab]..\\\\ud[c-f]..|(\\\\u(?:0000|d[89a-f]..))|\\\\.");

  private final Connection database;
  private final Class<T> type;
  private final String table;
  private final Rows rows = new Rows();

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
              + " (key text not null, version bigint not null, state jsonb,"
              + " kind text not null default '', primary key (key, kind))");
    }
    if (!hasKinds()) addKinds();
    database.commit();
  }

  private boolean hasKinds() throws SQLException {
    return found("select attname from pg_attribute", "attrelid", "attname = 'kind'") != null;
  }

  /// Adds the column of kinds, and forgets the token: the present rows do not tell their kinds.
  private void addKinds() throws SQLException {
    String key =
        found("select quote_ident(conname) from pg_constraint", "conrelid", "contype = 'p'");
    String alter = "alter table " + table;
    try (Statement make = database.createStatement()) {
      if (key != null) make.execute(alter + " drop constraint " + key);
      make.execute(alter + " add column kind text not null default ''");
      make.execute(alter + " add primary key (key, kind)");
      make.execute("delete from stoa_sinks where name = '" + table + "'");
    }
  }

  /// Returns a name from the catalog of the database; null when it has none for this table.
  ///
  /// @param select what to ask
  /// @param relation the column that names the table
  /// @param condition which one
  private @Nullable String found(String select, String relation, String condition)
      throws SQLException {
    String where = " where " + relation + " = '" + table + "'::regclass and " + condition;
    try (Statement ask = database.createStatement();
        ResultSet found = ask.executeQuery(select + where)) {
      return found.next() ? found.getString(1) : null;
    }
  }

  /// Brings the table up to date until no change comes for a time: from its token on, or first with
  /// the present objects. It begins with these when the table has no token, and when the store has
  /// released changes behind the token. Then they replace all rows, in one transaction.
  ///
  /// @param idleMax the time
  /// @return how many changes it has handled
  public long run(Stoa stoa, Duration idleMax) throws SQLException, InterruptedException {
    return Sink.run(rows, stoa, Changes.of(type).withStates(), null, idleMax);
  }

  /// Brings the table up to date as [#run(Stoa, Duration)], and acknowledges what is in the table.
  ///
  /// @param subscription holds the log for this sink; its position is not where the sink begins
  /// @param idleMax ends when no change comes for this time; null for never
  public long run(Stoa stoa, Subscription subscription, @Nullable Duration idleMax)
      throws SQLException, InterruptedException {
    return Sink.run(rows, stoa, Changes.of(type).withStates(), subscription, idleMax);
  }

  /// The table as a target.
  private final class Rows implements Target<SQLException> {
    @Override
    public @Nullable LogAddress token() throws SQLException {
      try (PreparedStatement ask =
          database.prepareStatement("select epoch, counter from stoa_sinks where name = ?")) {
        ask.setString(1, table);
        LogAddress known = null;
        try (ResultSet found = ask.executeQuery()) {
          if (found.next()) known = new LogAddress(found.getLong(1), found.getLong(2));
        }
        database.commit(); // no transaction stays open while the sink waits
        return known;
      }
    }

    @Override
    public void beginSnapshot() throws SQLException {
      try (Statement empty = database.createStatement()) {
        empty.execute("delete from " + table);
      }
    }

    @Override
    public void write(Change<?> change, Order.Place place, Envelope envelopes) throws SQLException {
      Object object = change.at().object().key();
      String name = object.toString();
      String key = REFUSED.matcher(name).replaceAll("\ufffd");
      String kind = kind(object) + (key.equals(name) ? "" : " " + Json.text(name));
      if (change instanceof Change.Deleted) {
        try (PreparedStatement delete =
            database.prepareStatement("delete from " + table + " where key = ? and kind = ?")) {
          delete.setString(1, key);
          delete.setString(2, kind);
          delete.executeUpdate();
        }
        return;
      }
      try (PreparedStatement put =
          database.prepareStatement(
              "insert into "
                  + table
                  + " (key, version, state, kind) values (?, ?, ?::jsonb, ?)"
                  + " on conflict (key, kind)"
                  + " do update set version = excluded.version, state = excluded.state")) {
        put.setString(1, key);
        put.setLong(2, change.at().version());
        put.setString(3, storable(Json.text(Json.state(change.after()))));
        put.setString(4, kind);
        put.executeUpdate();
      }
    }

    /// Returns the name of the class of a key: that of a class of Java without its package.
    private static String kind(Object key) {
      Class<?> type =
          key instanceof Enum<?> constant ? constant.getDeclaringClass() : key.getClass();
      return type.getName().startsWith("java.") ? type.getSimpleName() : type.getName();
    }

    /// Returns a text of JSON without the characters that PostgreSQL refuses.
    private String storable(String json) {
      return ESCAPE
          .matcher(json)
          .replaceAll(found ->
              found.group(1) == null ? Matcher.quoteReplacement(found.group()) : "\\\\ufffd");
    }

    @Override
    public void endSnapshot(LogAddress at, Order order, Envelope envelopes) {
      // The rows of objects that are gone were deleted at the beginning.
    }

    @Override
    public void commit(LogAddress token) throws SQLException {
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
    }

    @Override
    public void rollback() throws SQLException {
      database.rollback();
    }
  }
}
