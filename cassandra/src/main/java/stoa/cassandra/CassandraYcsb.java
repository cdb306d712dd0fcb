package stoa.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import stoa.bench.cluster.Records;
import stoa.bench.ycsb.YcsbContender;
import stoa.cassandra.CassandraNodes.Sync;

/// Cassandra 5.0 with its driver: a row a record, a column a field. Three nodes keep two copies of
/// each row and answer when both have a change, and when both were read, as in the vCorfu paper.
///
/// @param nodes how many nodes
/// @param sync when each forces its commit log
record CassandraYcsb(int nodes, Sync sync) implements YcsbContender {
  private static final int COPIES = 2;
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration READY_TIMEOUT = Duration.ofSeconds(60);
  private static final long LOOK_NANOS = 100_000_000;

  static {
    // The driver tells of its settings at each start.
    System.setProperty("org.slf4j.simpleLogger.log.com.datastax.oss.driver", "error");
  }

  @Override
  public String name() {
    return "Cassandra, %s, %s".formatted(nodes == 1 ? "1 node" : nodes + " nodes", sync.text);
  }

  @Override
  public String guarantee() {
    String place =
        nodes == 1 ? "one node" : "both nodes with a copy, of %d, consistency ALL".formatted(nodes);
    return sync == Sync.BATCH
        ? "forced to the disk of %s; commitlog_sync batch; no order over rows".formatted(place)
        : "in the memory of %s; the last 10 s are lost with their machines; commitlog_sync periodic"
            .formatted(place);
  }

  @Override
  public String scan() {
    return "one query for the rows from the key's token on, as in YCSB's own binding: in the order"
        + " of hashes";
  }

  @Override
  public int copies() {
    return nodes == 1 ? 1 : COPIES;
  }

  @Override
  public boolean isComparable() {
    return sync == Sync.BATCH;
  }

  @Override
  public Running start(Path folder, List<String> heap) throws Exception {
    var started = CassandraNodes.start(folder, nodes, sync, heap);
    @Nullable CqlSession session = null;
    try {
      session = connect(started);
      return new Client(started, session, copies());
    } catch (RuntimeException | InterruptedException failed) {
      if (session != null) session.close();
      started.close();
      throw failed;
    }
  }

  private CqlSession connect(CassandraNodes started) {
    var level = copies() == 1 ? DefaultConsistencyLevel.ONE : DefaultConsistencyLevel.ALL;
    var config =
        DriverConfigLoader.programmaticBuilder()
            .withString(DefaultDriverOption.REQUEST_CONSISTENCY, level.name())
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, ANSWER_TIMEOUT)
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, ANSWER_TIMEOUT)
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, ANSWER_TIMEOUT)
            .withDuration(DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, ANSWER_TIMEOUT)
            .build();
    return CqlSession.builder()
        .addContactPoints(started.addresses())
        .withLocalDatacenter("datacenter1") // the name that SimpleSnitch gives
        .withConfigLoader(config)
        .build();
  }

  /// Thread-safe.
  private static final class Client implements Running, Records {
    private static final String TABLE = "ycsb.records";
    private static final List<String> FIELDS =
        IntStream.range(0, 10).mapToObj(i -> "field" + i).toList();

    private final CassandraNodes nodes;
    private final CqlSession session;
    private final PreparedStatement read;
    private final PreparedStatement scan;

    // By the fields that they write.
    private final Map<List<String>, PreparedStatement> writes = new ConcurrentHashMap<>();

    Client(CassandraNodes nodes, CqlSession session, int copies) throws InterruptedException {
      this.nodes = nodes;
      this.session = session;
      await(() -> up() == nodes.addresses().size());
      session.execute(
          "CREATE KEYSPACE ycsb WITH replication = {'class': 'SimpleStrategy',"
              + " 'replication_factor': %d}".formatted(copies));
      session.execute(
          "CREATE TABLE %s (key text PRIMARY KEY, %s)"
              .formatted(
                  TABLE,
                  FIELDS.stream().map(field -> field + " blob").collect(Collectors.joining(", "))));
      await(this::canReadAll);
      String columns = String.join(", ", FIELDS);
      read = session.prepare("SELECT %s FROM %s WHERE key = ?".formatted(columns, TABLE));
      scan =
          session.prepare(
              "SELECT %s FROM %s WHERE token(key) >= token(?) LIMIT ?".formatted(columns, TABLE));
    }

    private interface Condition {
      boolean holds();
    }

    private static void await(Condition condition) throws InterruptedException {
      long start = System.nanoTime();
      while (!condition.holds()) {
        if (System.nanoTime() - start > READY_TIMEOUT.toNanos()) {
          throw new IllegalStateException(
              "Cassandra's nodes did not find each other in %d s"
                  .formatted(READY_TIMEOUT.toSeconds()));
        }
        LockSupport.parkNanos(LOOK_NANOS);
        if (Thread.interrupted()) throw new InterruptedException();
      }
    }

    private long up() {
      return session.getMetadata().getNodes().values().stream()
          .filter(node -> node.getState() == NodeState.UP)
          .count();
    }

    /// Returns whether each node takes all others for available: a query over the whole ring needs
    /// every copy.
    private boolean canReadAll() {
      try {
        for (var node : session.getMetadata().getNodes().values()) {
          session.execute(
              SimpleStatement.newInstance("SELECT count(*) FROM " + TABLE).setNode(node));
        }
        return true;
      } catch (DriverException _) {
        return false;
      }
    }

    @Override
    public Records records(int caller) {
      return this;
    }

    @Override
    public void insert(String key, Map<String, byte[]> fields) {
      var sorted = new TreeMap<>(fields);
      var values = new ArrayList<Object>(List.of(key));
      for (byte[] value : sorted.values()) values.add(ByteBuffer.wrap(value));
      var names = List.copyOf(sorted.keySet());
      session.execute(writes.computeIfAbsent(names, this::write).bind(values.toArray()));
    }

    private PreparedStatement write(List<String> names) {
      return session.prepare(
          "INSERT INTO %s (key, %s) VALUES (?%s)"
              .formatted(TABLE, String.join(", ", names), ", ?".repeat(names.size())));
    }

    @Override
    public Map<String, byte[]> read(String key) {
      Row row = session.execute(read.bind(key)).one();
      return row == null ? Map.of() : fields(row);
    }

    private static Map<String, byte[]> fields(Row row) {
      var fields = new TreeMap<String, byte[]>();
      for (int i = 0; i < FIELDS.size(); i++) {
        ByteBuffer value = row.getByteBuffer(i);
        if (value == null) continue;
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        fields.put(FIELDS.get(i), bytes);
      }
      return fields;
    }

    /// Updates. An insert of Cassandra replaces the columns that it names.
    @Override
    public void update(String key, Map<String, byte[]> fields) {
      insert(key, fields);
    }

    @Override
    public int scan(String from, int most) {
      int rows = 0;
      for (Row row : session.execute(scan.bind(from, most))) {
        if (!fields(row).isEmpty()) rows++;
      }
      return rows;
    }

    @Override
    public Duration processorTime() {
      return nodes.processorTime();
    }

    @Override
    public void close() {
      try (nodes) {
        session.close();
      }
    }
  }
}
