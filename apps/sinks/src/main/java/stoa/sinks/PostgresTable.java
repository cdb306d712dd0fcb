package stoa.sinks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Ref;
import stoa.Stoa;
import stoa.Subscription;
import stoa.base.StreamId;

/// Mirrors the objects of a type in a table of PostgreSQL: a row for each object, with the text of
/// its key, the class of its key (`kind`), its version, and its state as `jsonb`. The primary key
/// is the `id`, by which the store itself tells objects apart: two objects never share a row. One
/// thread uses it.
///
/// The token is a row of the table `stoa_sinks`, written in the transaction of the rows that it
/// covers. So each change of an object shows in the table exactly once, whatever dies when, and no
/// reader of the table sees a part of a transaction of the store.
///
/// A text of PostgreSQL cannot have the character U+0000, nor half of a surrogate pair. The table
/// has U+FFFD in their place.
///
/// A table of an earlier version gets the columns that it lacks, and begins anew: the present
/// objects replace its rows in one transaction. A table that no sink has made is refused.
///
/// @param <T> the type of the objects
public final class PostgresTable<T> {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,62}");

  // The characters that a text of PostgreSQL cannot have: U+0000, and half of a surrogate pair.
  private static final Pattern REFUSED = Pattern.compile("[\\x00\\p{Cs}]");

  // An escape in JSON: a surrogate pair; in the group, one of a character that is refused; others.
  private static final Pattern ESCAPE =
      Pattern.compile("\\\\ud[89ab]..\\\\ud[c-f]..|(\\\\u(?:0000|d[89a-f]..))|\\\\.");

  // The columns of the tables of all versions, with their types.
  private static final Map<String, String> COLUMNS =
      Map.of("key", "text", "version", "bigint", "state", "jsonb");

  private final Connection database;
  private final Class<T> type;
  private final String table;
  private final Rows rows = new Rows();

  /// Creates the tables unless they exist.
  ///
  /// @param database its auto-commit is turned off
  /// @param table the name of the table: small letters, digits and `_`
  /// @throws IllegalArgumentException when it is no name of a table, or that of a table which no
  ///   sink has made
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
      Map<String, String> columns = columns();
      if (columns.isEmpty()) {
        make.execute(
            "create table "
                + table
                + " (id uuid primary key, key text not null, kind text not null,"
                + " version bigint not null, state jsonb)");
        make.execute("create index on " + table + " using hash (key)");
      } else {
        if (!columns.entrySet().containsAll(COLUMNS.entrySet())
            || !columns.getOrDefault("id", "uuid").equals("uuid")) {
          database.rollback();
          throw new IllegalArgumentException(
              "no sink has made the table "
                  + table
                  + ", whose columns are "
                  + columns
                  + "; name another one");
        }
        if (!columns.containsKey("id")) addIds(make);
      }
    }
    database.commit();
  }

  /// Returns the columns of the table, with their types; none when there is no table.
  private SortedMap<String, String> columns() throws SQLException {
    var columns = new TreeMap<String, String>();
    try (PreparedStatement ask =
        database.prepareStatement(
            "select attname, format_type(atttypid, atttypmod) from pg_attribute"
                + " where attrelid = to_regclass(?) and attnum > 0 and not attisdropped")) {
      ask.setString(1, table);
      try (ResultSet found = ask.executeQuery()) {
        while (found.next()) columns.put(found.getString(1), found.getString(2));
      }
    }
    return columns;
  }

  /// Adds the columns that a table of an earlier version lacks, and forgets the token: the present
  /// rows do not tell their ids, and have others until they are replaced.
  private void addIds(Statement make) throws SQLException {
    String alter = "alter table " + table;
    String key = primaryKey(make);
    if (key != null) make.execute(alter + " drop constraint " + key);
    make.execute(alter + " add column id uuid not null default gen_random_uuid()");
    make.execute(alter + " alter column id drop default");
    make.execute(alter + " add primary key (id)");
    make.execute(alter + " add column if not exists kind text not null default ''");
    make.execute("create index on " + table + " using hash (key)");
    make.execute("delete from stoa_sinks where name = '" + table + "'");
  }

  /// Returns the name of the primary key of the table; null when it has none.
  private @Nullable String primaryKey(Statement ask) throws SQLException {
    try (ResultSet found =
        ask.executeQuery(
            "select quote_ident(conname) from pg_constraint where contype = 'p' and conrelid = '"
                + table
                + "'::regclass")) {
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
      Ref<?> object = change.at().object();
      UUID id = id(object);
      if (change instanceof Change.Deleted) {
        try (PreparedStatement delete =
            database.prepareStatement("delete from " + table + " where id = ?")) {
          delete.setObject(1, id);
          delete.executeUpdate();
        }
        return;
      }
      try (PreparedStatement put =
          database.prepareStatement(
              "insert into "
                  + table
                  + " (id, key, kind, version, state) values (?, ?, ?, ?, ?::jsonb)"
                  + " on conflict (id)"
                  + " do update set version = excluded.version, state = excluded.state")) {
        put.setObject(1, id);
        put.setString(2, REFUSED.matcher(object.key().toString()).replaceAll("\ufffd"));
        put.setString(3, kind(object.key()));
        put.setLong(4, change.at().version());
        put.setString(5, storable(Json.text(Json.state(change.after()))));
        put.executeUpdate();
      }
    }

    private static UUID id(Ref<?> object) {
      StreamId id = Envelope.id(object);
      return new UUID(id.high(), id.low());
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
