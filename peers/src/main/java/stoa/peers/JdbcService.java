package stoa.peers;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.ItemChange;
import stoa.stacksync.ItemVersion;
import stoa.stacksync.NotFound;
import stoa.stacksync.NotPermitted;
import stoa.stacksync.Quota;

/// StackSync on PostgreSQL with the rules of a commit in the client: a transaction that reads the
/// items of the request in one statement, and writes in batches.
///
/// Thread-safe.
final class JdbcService extends SqlService {
  JdbcService(List<ConnectionPool> shards) {
    super(shards);
  }

  @Override
  public List<CommitInfo> doCommit(
      UUID user, UUID device, UUID workspace, List<ItemChange> changes) {
    requireDistinct(changes);
    return ask(
        shard(user),
        connection -> {
          connection.setAutoCommit(false);
          try {
            var answers = commit(connection, user, device, workspace, changes);
            connection.commit();
            return answers;
          } catch (SQLException | RuntimeException e) {
            connection.rollback();
            throw e;
          } finally {
            connection.setAutoCommit(true);
          }
        });
  }

  private static List<CommitInfo> commit(
      Connection connection, UUID user, UUID device, UUID workspace, List<ItemChange> changes)
      throws SQLException {
    requireDevice(connection, user, device);
    var owner = lockWorkspace(connection, user, workspace);
    var quota = lockQuota(connection, owner);
    try (var rows = new BatchedRows(connection, user, device, workspace)) {
      rows.load(changes);
      var outcome = RowRules.commit(changes, rows, quota);
      rows.flush();
      if (!outcome.quota().equals(quota)) {
        execute(
            connection,
            "update user1 set quota_used = ? where id = ?",
            outcome.quota().usedBytes(),
            owner);
      }
      return outcome.answers();
    }
  }

  private static void requireDevice(Connection connection, UUID user, UUID device)
      throws SQLException {
    try (var ask = connection.prepareStatement("select user_id from device where id = ?")) {
      set(ask, device);
      try (var row = ask.executeQuery()) {
        if (!row.next()) throw new NotFound("there is no device " + device);
        var holder = row.getObject(1, UUID.class);
        if (holder.equals(user)) return;
        throw new NotPermitted("device " + device + " belongs to user " + holder);
      }
    }
  }

  private static UUID lockWorkspace(Connection connection, UUID user, UUID workspace)
      throws SQLException {
    var sql =
        "select owner_id, exists (select from workspace_user u where u.workspace_id = w.id and"
            + " u.user_id = ?) from workspace w where id = ? for update";
    try (var ask = connection.prepareStatement(sql)) {
      set(ask, user, workspace);
      try (var row = ask.executeQuery()) {
        if (!row.next()) throw new NotFound("there is no workspace " + workspace);
        if (row.getBoolean(2)) return row.getObject(1, UUID.class);
        throw new NotPermitted("user " + user + " is not a member of workspace " + workspace);
      }
    }
  }

  private static Quota lockQuota(Connection connection, UUID owner) throws SQLException {
    var sql = "select quota_limit, quota_used from user1 where id = ? for update";
    try (var ask = connection.prepareStatement(sql)) {
      set(ask, owner);
      try (var row = ask.executeQuery()) {
        if (!row.next()) throw new NotFound("there is no user " + owner);
        return new Quota(row.getLong(1), row.getLong(2));
      }
    }
  }

  private static void execute(Connection connection, String sql, Object... parameters)
      throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      set(statement, parameters);
      int _ = statement.executeUpdate();
    }
  }

  /// The rows of a workspace, read as they are needed and written in batches.
  private static final class BatchedRows implements RowRules.Rows<SQLException>, AutoCloseable {
    private static final String COLUMNS = "id, latest_version, parent, folder, deleted, size";

    private final Connection connection;
    private final UUID user;
    private final UUID device;
    private final UUID workspace;
    private final long now = micros(Instant.now());
    private final Map<Long, Optional<RowRules.Row>> known = new HashMap<>();
    private final PreparedStatement items;
    private final PreparedStatement updates;
    private final PreparedStatement versions;
    private final PreparedStatement chunks;

    BatchedRows(Connection connection, UUID user, UUID device, UUID workspace) throws SQLException {
      this.connection = connection;
      this.user = user;
      this.device = device;
      this.workspace = workspace;
      items = connection.prepareStatement("insert into item values (?, ?, ?, ?, ?, ?, ?)");
      updates =
          connection.prepareStatement(
              "update item set latest_version = ?, parent = ?, deleted = ?, size = ?"
                  + " where workspace_id = ? and id = ?");
      versions =
          connection.prepareStatement(
              "insert into item_version values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
      chunks = connection.prepareStatement("insert into item_version_chunk values (?, ?, ?, ?, ?)");
    }

    /// Reads the items of a request.
    void load(List<ItemChange> changes) throws SQLException {
      var ids = changes.stream().map(ItemChange::item).toArray();
      for (var id : ids) known.put((Long) id, Optional.empty());
      var sql = "select " + COLUMNS + " from item where workspace_id = ? and id = any(?)";
      try (var ask = connection.prepareStatement(sql)) {
        set(ask, workspace, connection.createArrayOf("int8", ids));
        read(ask);
      }
    }

    private void read(PreparedStatement ask) throws SQLException {
      try (ResultSet row = ask.executeQuery()) {
        while (row.next()) {
          known.put(
              row.getLong(1),
              Optional.of(
                  new RowRules.Row(
                      row.getInt(2),
                      row.getLong(3),
                      row.getBoolean(4),
                      row.getBoolean(5),
                      row.getLong(6))));
        }
      }
    }

    @Override
    public Optional<RowRules.Row> find(long item) throws SQLException {
      if (!known.containsKey(item)) {
        known.put(item, Optional.empty());
        var sql = "select " + COLUMNS + " from item where workspace_id = ? and id = ?";
        try (var ask = connection.prepareStatement(sql)) {
          set(ask, workspace, item);
          read(ask);
        }
      }
      return known.getOrDefault(item, Optional.empty());
    }

    @Override
    public boolean holdsItems(long folder) throws SQLException {
      flush();
      var sql =
          "select exists (select from item where workspace_id = ? and parent = ? and not deleted)";
      try (var ask = connection.prepareStatement(sql)) {
        set(ask, workspace, folder);
        try (var row = ask.executeQuery()) {
          return row.next() && row.getBoolean(1);
        }
      }
    }

    @Override
    public ItemVersion version(long item, int version) throws SQLException {
      flush();
      return SqlService.version(connection, user, workspace, item, version);
    }

    @Override
    public void write(ItemChange change, boolean first) throws SQLException {
      long item = change.item();
      var now = change.metadata();
      known.put(item, Optional.of(RowRules.Row.of(change)));
      if (first) {
        set(items, workspace, item, 1, now.parent(), now.folder(), now.deleted(), now.sizeBytes());
        items.addBatch();
      } else {
        set(
            updates,
            change.version(),
            now.parent(),
            now.deleted(),
            now.sizeBytes(),
            workspace,
            item);
        updates.addBatch();
      }
      set(
          versions,
          workspace,
          item,
          change.version(),
          device,
          this.now,
          now.status().name(),
          now.parent(),
          now.name(),
          now.folder(),
          now.mimeType(),
          now.sizeBytes(),
          now.checksum(),
          micros(now.modifiedAt()));
      versions.addBatch();
      for (int i = 0; i < now.chunks().size(); i++) {
        set(chunks, workspace, item, change.version(), i + 1, now.chunks().get(i).fingerprint());
        chunks.addBatch();
      }
    }

    /// Sends the batches.
    void flush() throws SQLException {
      for (var batch : List.of(items, updates, versions, chunks)) {
        var _ = batch.executeBatch();
      }
    }

    @Override
    public void close() throws SQLException {
      for (var batch : List.of(items, updates, versions, chunks)) batch.close();
    }
  }
}
