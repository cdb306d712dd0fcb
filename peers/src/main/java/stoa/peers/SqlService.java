package stoa.peers;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import stoa.stacksync.Account;
import stoa.stacksync.Chunk;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.Device;
import stoa.stacksync.ItemChange;
import stoa.stacksync.ItemState;
import stoa.stacksync.ItemTree;
import stoa.stacksync.ItemVersion;
import stoa.stacksync.Metadata;
import stoa.stacksync.NotFound;
import stoa.stacksync.NotPermitted;
import stoa.stacksync.Quota;
import stoa.stacksync.Status;
import stoa.stacksync.SyncService;
import stoa.stacksync.WorkspaceInfo;

/// StackSync on PostgreSQL: each request is a function in the database of its user, see
/// `stacksync.sql`. Users whose data is in different databases share nothing, and files do not move
/// between workspaces.
///
/// Thread-safe.
class SqlService implements SyncService {
  private static final String COMMIT =
      "select * from do_commit(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

  private final List<ConnectionPool> shards;

  /// @param shards the databases; or one that routes to others
  SqlService(List<ConnectionPool> shards) {
    this.shards = List.copyOf(shards);
  }

  /// Returns the database of a user.
  final ConnectionPool shard(UUID user) {
    return shards.get(Math.floorMod(user.hashCode(), shards.size()));
  }

  @Override
  public boolean addUser(UUID id, String name, String mail, long quotaBytes) {
    return bool(id, "select add_user(?, ?, ?, ?)", id, name, mail, quotaBytes);
  }

  @Override
  public void addDevice(UUID user, Device device) {
    boolean _ =
        bool(user, "select add_device(?, ?, ?, ?)", user, device.id(), device.name(), device.os());
  }

  @Override
  public boolean addWorkspace(UUID owner, UUID id, String name) {
    return bool(owner, "select add_workspace(?, ?, ?)", owner, id, name);
  }

  @Override
  public void shareWorkspace(UUID owner, UUID workspace, UUID user) {
    boolean _ = bool(owner, "select share_workspace(?, ?, ?)", owner, workspace, user);
  }

  @Override
  public void unshareWorkspace(UUID owner, UUID workspace, UUID user) {
    boolean _ = bool(owner, "select unshare_workspace(?, ?, ?)", owner, workspace, user);
  }

  @Override
  public List<CommitInfo> doCommit(
      UUID user, UUID device, UUID workspace, List<ItemChange> changes) {
    requireDistinct(changes);
    return ask(
        shard(user),
        connection -> {
          try (var statement = connection.prepareStatement(COMMIT)) {
            set(statement, user, device, workspace);
            send(connection, statement, changes);
            try (var rows = statement.executeQuery()) {
              return answers(connection, user, workspace, changes, rows);
            }
          }
        });
  }

  private static void send(
      Connection connection, PreparedStatement statement, List<ItemChange> changes)
      throws SQLException {
    var chunks = new ArrayList<String>();
    var ends = new ArrayList<Integer>();
    for (var change : changes) {
      change.metadata().chunks().forEach(chunk -> chunks.add(chunk.fingerprint()));
      ends.add(chunks.size());
    }
    int at = 4;
    statement.setArray(at++, array(connection, "int8", changes, ItemChange::item));
    statement.setArray(at++, array(connection, "int4", changes, ItemChange::version));
    statement.setArray(at++, of(connection, "text", changes, m -> m.status().name()));
    statement.setArray(at++, of(connection, "int8", changes, Metadata::parent));
    statement.setArray(at++, of(connection, "text", changes, Metadata::name));
    statement.setArray(at++, of(connection, "bool", changes, Metadata::folder));
    statement.setArray(at++, of(connection, "text", changes, Metadata::mimeType));
    statement.setArray(at++, of(connection, "int8", changes, Metadata::sizeBytes));
    statement.setArray(at++, of(connection, "int8", changes, Metadata::checksum));
    statement.setArray(at++, of(connection, "int8", changes, m -> micros(m.modifiedAt())));
    statement.setArray(at++, array(connection, "int4", ends, end -> end));
    statement.setArray(at, array(connection, "text", chunks, chunk -> chunk));
  }

  private static Array of(
      Connection connection, String type, List<ItemChange> changes, Function<Metadata, Object> part)
      throws SQLException {
    return array(connection, type, changes, change -> part.apply(change.metadata()));
  }

  private static <E> Array array(
      Connection connection, String type, List<E> elements, Function<E, Object> part)
      throws SQLException {
    return connection.createArrayOf(type, elements.stream().map(part).toArray());
  }

  private static List<CommitInfo> answers(
      Connection connection, UUID user, UUID workspace, List<ItemChange> changes, ResultSet rows)
      throws SQLException {
    record Answer(long item, int version, String word, int current) {}
    var found = new ArrayList<Answer>();
    var quota = new Quota(0, 0);
    while (rows.next()) {
      found.add(new Answer(rows.getLong(1), rows.getInt(2), rows.getString(3), rows.getInt(4)));
      quota = new Quota(rows.getLong(5), rows.getLong(6));
    }
    var answers = new ArrayList<CommitInfo>();
    for (int i = 0; i < found.size(); i++) {
      var each = found.get(i);
      long parent = changes.get(i).metadata().parent();
      answers.add(
          switch (each.word) {
            case "committed" -> new CommitInfo.Committed(each.item, each.version);
            case "unknown" -> new CommitInfo.UnknownItem(each.item, each.version);
            case "quota" -> new CommitInfo.OverQuota(each.item, each.version, quota);
            case "in use" -> new CommitInfo.FolderInUse(each.item, each.version);
            case "no folder" -> new CommitInfo.NoFolder(each.item, each.version, parent);
            case "repeated" ->
                new CommitInfo.Repeated(
                    each.item,
                    each.version,
                    version(connection, user, workspace, each.item, each.current));
            case "wrong" ->
                new CommitInfo.WrongVersion(
                    each.item,
                    each.version,
                    version(connection, user, workspace, each.item, each.current));
            default -> throw new SQLException("do_commit answered " + each.word);
          });
    }
    return answers;
  }

  /// Reads one version.
  static ItemVersion version(
      Connection connection, UUID user, UUID workspace, long item, int version)
      throws SQLException {
    try (var statement = connection.prepareStatement("select * from find_version(?, ?, ?, ?)")) {
      set(statement, user, workspace, item, version);
      try (var rows = statement.executeQuery()) {
        return states(rows).getFirst().latest();
      }
    }
  }

  @Override
  public List<CommitInfo> moveItems(
      UUID user, UUID device, UUID from, UUID to, List<ItemChange> changes) {
    throw new UnsupportedOperationException("files do not move between workspaces on SQL");
  }

  @Override
  public List<WorkspaceInfo> listWorkspaces(UUID user) {
    return rows(
        shard(user),
        row ->
            new WorkspaceInfo(
                row.getObject(1, UUID.class),
                row.getString(2),
                row.getObject(3, UUID.class),
                row.getInt(4),
                row.getInt(5)),
        "select * from list_workspaces(?)",
        user);
  }

  @Override
  public List<ItemState> listChanges(UUID user, UUID workspace, long afterItem, int itemsMax) {
    return list(user, "select * from list_changes(?, ?, ?, ?)", workspace, afterItem, itemsMax);
  }

  @Override
  public List<ItemTree> listTree(UUID user, UUID workspace, long folder, int itemsMax) {
    var states = list(user, "select * from list_tree(?, ?, ?, ?)", workspace, folder, itemsMax);
    if (states.size() > itemsMax) {
      throw new IllegalArgumentException("the folder holds more than " + itemsMax + " items");
    }
    var children = new HashMap<Long, List<ItemState>>();
    for (var state : states) {
      children
          .computeIfAbsent(state.latest().metadata().parent(), _ -> new ArrayList<>())
          .add(state);
    }
    return below(folder, children);
  }

  private static List<ItemTree> below(long folder, Map<Long, List<ItemState>> children) {
    return children.getOrDefault(folder, List.of()).stream()
        .map(state -> new ItemTree(state, below(state.item(), children)))
        .toList();
  }

  private List<ItemState> list(UUID user, String sql, UUID workspace, long from, int itemsMax) {
    return ask(
        shard(user),
        connection -> {
          try (var statement = connection.prepareStatement(sql)) {
            set(statement, user, workspace, from, itemsMax);
            try (var rows = statement.executeQuery()) {
              return states(rows);
            }
          }
        });
  }

  private static List<ItemState> states(ResultSet rows) throws SQLException {
    var states = new ArrayList<ItemState>();
    while (rows.next()) {
      var metadata =
          new Metadata(
              Status.valueOf(rows.getString(5)),
              rows.getLong(6),
              rows.getString(7),
              rows.getBoolean(8),
              rows.getString(9),
              rows.getLong(10),
              rows.getLong(11),
              chunks((String[]) rows.getArray(13).getArray()),
              instant(rows.getLong(12)));
      states.add(
          new ItemState(
              rows.getLong(1),
              new ItemVersion(
                  rows.getInt(2),
                  metadata,
                  rows.getObject(3, UUID.class),
                  instant(rows.getLong(4)))));
    }
    return states;
  }

  private static List<Chunk> chunks(String[] fingerprints) {
    return Arrays.stream(fingerprints).map(Chunk::new).toList();
  }

  @Override
  public Optional<Account> account(UUID user) {
    var devices =
        rows(
            shard(user),
            row -> new Device(row.getObject(1, UUID.class), row.getString(2), row.getString(3)),
            "select * from list_devices(?)",
            user);
    return rows(
            shard(user),
            row ->
                new Account(
                    user,
                    row.getString(1),
                    row.getString(2),
                    new Quota(row.getLong(3), row.getLong(4)),
                    devices),
            "select * from find_account(?)",
            user)
        .stream()
        .findFirst();
  }

  @Override
  public Optional<UUID> userByMail(String mail) {
    for (var shard : shards) {
      var found =
          rows(shard, row -> row.getObject(1, UUID.class), "select * from find_mail(?)", mail);
      if (!found.isEmpty()) return Optional.of(found.getFirst());
    }
    return Optional.empty();
  }

  // ---- the client of the database

  /// Reads a row.
  private interface Row<R> {
    R read(ResultSet row) throws SQLException;
  }

  private boolean bool(UUID user, String sql, Object... parameters) {
    return rows(shard(user), row -> row.getBoolean(1), sql, parameters).getFirst();
  }

  private static <R> List<R> rows(
      ConnectionPool pool, Row<R> row, String sql, Object... parameters) {
    return ask(
        pool,
        connection -> {
          try (var statement = connection.prepareStatement(sql)) {
            set(statement, parameters);
            try (var rows = statement.executeQuery()) {
              var all = new ArrayList<R>();
              while (rows.next()) all.add(row.read(rows));
              return all;
            }
          }
        });
  }

  /// Sets the first parameters.
  static void set(PreparedStatement statement, Object... parameters) throws SQLException {
    for (int i = 0; i < parameters.length; i++) statement.setObject(i + 1, parameters[i]);
  }

  /// Asks a database, and turns its errors into those of the service.
  static <R> R ask(ConnectionPool pool, ConnectionPool.Work<R> work) {
    try {
      return pool.lend(work);
    } catch (SQLException e) {
      var message = String.valueOf(e.getMessage());
      throw switch (String.valueOf(e.getSQLState())) {
        case "SS400" -> new IllegalArgumentException(message, e);
        case "SS403" -> new NotPermitted(message);
        case "SS404" -> new NotFound(message);
        default -> throughProxy(message, e);
      };
    }
  }

  /// PL/Proxy passes the text of an error on, and gives it a code of its own.
  private static RuntimeException throughProxy(String message, SQLException e) {
    if (message.contains("there is no ")) return new NotFound(message);
    if (message.contains(" belongs to ") || message.contains(" not a member ")) {
      return new NotPermitted(message);
    }
    return new IllegalStateException(message, e);
  }

  static void requireDistinct(List<ItemChange> changes) {
    if (changes.stream().map(ItemChange::item).distinct().count() == changes.size()) return;
    throw new IllegalArgumentException("an item is twice in one request; send two requests");
  }

  static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }

  static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
