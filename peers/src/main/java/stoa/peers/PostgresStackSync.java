package stoa.peers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import stoa.bench.stacksync.StackSyncContender;
import stoa.stacksync.SyncService;

/// StackSync on PostgreSQL, sharded by user.
///
/// @param form how a commit is made
/// @param shards how many servers have the users
/// @param synchronous whether a commit is on the disk before its answer
record PostgresStackSync(Form form, int shards, boolean synchronous) implements StackSyncContender {
  // More connections than this make two cores slower, not faster; callers wait for a free one.
  private static final int CONNECTIONS = 24;

  /// How a commit is made.
  enum Form {
    /// One call of a stored procedure; the client knows the shards.
    PROCEDURE("stored procedure"),
    /// One call of a stored procedure, through PL/Proxy.
    PROXY("stored procedure, PL/Proxy"),
    /// Statements of a transaction, with batches.
    JDBC("JDBC batches"),
    /// Entities of Hibernate.
    HIBERNATE("Hibernate");

    private final String words;

    Form(String words) {
      this.words = words;
    }

    @Override
    public String toString() {
      return words;
    }
  }

  @Override
  public String name() {
    return "PostgreSQL, %s, %d %s, synchronous_commit %s"
        .formatted(form, shards, shards == 1 ? "shard" : "shards", synchronous ? "on" : "off");
  }

  @Override
  public String durability() {
    return synchronous ? "kept" : "lost if it is younger than 0.6 s";
  }

  @Override
  public Running start(Path folder) throws Exception {
    var started = new ArrayList<AutoCloseable>();
    try {
      var servers = new ArrayList<PostgresServer>();
      for (int i = 0; i < shards; i++) {
        var server = server(folder.resolve("shard" + i));
        started.add(server);
        servers.add(server);
        server.execute(schema());
      }
      var all = new ArrayList<>(servers);
      var pools = new ArrayList<ConnectionPool>();
      List<PostgresServer> entries = servers;
      if (form == Form.PROXY) {
        var proxy = server(folder.resolve("proxy"));
        started.add(proxy);
        all.add(proxy);
        PlProxy.set(proxy, servers);
        entries = List.of(proxy);
      }
      for (var entry : entries) {
        var pool = new ConnectionPool(entry, CONNECTIONS);
        started.add(pool);
        pools.add(pool);
      }
      var service =
          switch (form) {
            case PROCEDURE, PROXY -> new SqlService(pools);
            case JDBC -> new JdbcService(pools);
            case HIBERNATE -> {
              var entities = new HibernateService(pools, servers, CONNECTIONS);
              started.add(entities);
              yield entities;
            }
          };
      return new Servers(service, all, started);
    } catch (Exception e) {
      close(started);
      throw e;
    }
  }

  private PostgresServer server(Path folder) throws Exception {
    return PostgresServer.start(Files.createDirectory(folder), synchronous);
  }

  private static String schema() throws IOException {
    try (InputStream in = PostgresStackSync.class.getResourceAsStream("stacksync.sql")) {
      return new String(
          Objects.requireNonNull(in, "stacksync.sql").readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static void close(List<AutoCloseable> started) throws IOException {
    IOException first = null;
    for (var each : started.reversed()) {
      try {
        each.close();
      } catch (Exception e) {
        if (first == null) first = new IOException(e);
        else first.addSuppressed(e);
      }
    }
    if (first != null) throw first;
  }

  private record Servers(
      SyncService only, List<PostgresServer> servers, List<AutoCloseable> started)
      implements Running {
    @Override
    public SyncService service(int caller) {
      return only;
    }

    @Override
    public Duration processorTime() {
      return servers.stream()
          .map(PostgresServer::processorTime)
          .reduce(Duration.ZERO, Duration::plus);
    }

    @Override
    public void close() throws IOException {
      PostgresStackSync.close(started);
    }
  }
}
