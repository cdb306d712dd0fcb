package stoa.peers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import stoa.bench.remote.RemoteContender;
import stoa.programs.BackgroundProcess;

/// A server of PostgreSQL with a folder of its own, from Debian's package. It refuses to run as
/// root, so root starts it as the user `postgres`.
final class PostgresServer implements AutoCloseable {
  private static final Path PROGRAMS = Path.of("/usr/lib/postgresql");
  private static final String USER = "stacksync";

  // A contender's folder, the folder of all servers, and that of the benchmark.
  private static final int OWN_FOLDERS = 3;

  private final BackgroundProcess process;
  private final int port;

  private PostgresServer(BackgroundProcess process, int port) {
    this.process = process;
    this.port = port;
  }

  /// Starts a server.
  ///
  /// @param folder an empty folder for its data
  /// @param synchronousCommit whether a commit is on the disk before its answer
  /// @throws RemoteContender.Missing when PostgreSQL is not installed
  static PostgresServer start(Path folder, boolean synchronousCommit)
      throws IOException, InterruptedException, RemoteContender.Missing {
    Path programs = programs();
    var as = new ArrayList<String>();
    if (isRoot()) {
      as.addAll(
          List.of("setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--"));
      letIn(folder);
      run(List.of("chown", "postgres", folder.toString()), folder);
    }
    Path data = folder.resolve("data");
    var init = new ArrayList<>(as);
    init.add(programs.resolve("initdb").toString());
    init.addAll(List.of("-D", data.toString(), "-U", USER, "-A", "trust", "-N", "-E", "UTF8"));
    init.add("--locale=C");
    run(init, folder);
    int port = FreePorts.one();
    var command = new ArrayList<>(as);
    command.add(programs.resolve("postgres").toString());
    command.addAll(List.of("-D", data.toString(), "-p", Integer.toString(port)));
    for (var setting :
        List.of(
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=300",
            "shared_buffers=512MB",
            "max_wal_size=4GB",
            "synchronous_commit=" + (synchronousCommit ? "on" : "off"))) {
      command.addAll(List.of("-c", setting));
    }
    var process = BackgroundProcess.start(command, Map.of("LC_ALL", "C"));
    try {
      process.await("database system is ready to accept connections");
    } catch (IllegalStateException | InterruptedException failed) {
      process.close();
      throw failed;
    }
    return new PostgresServer(process, port);
  }

  /// Returns the folder of the programs of the newest version.
  private static Path programs() throws IOException, RemoteContender.Missing {
    return PROGRAMS.resolve(version()).resolve("bin");
  }

  /// Returns the newest version that is installed.
  static String version() throws IOException, RemoteContender.Missing {
    if (!Files.isDirectory(PROGRAMS)) {
      throw new RemoteContender.Missing(
          "PostgreSQL is not installed; install it: apt install postgresql");
    }
    try (var versions = Files.list(PROGRAMS)) {
      return String.valueOf(versions.sorted().toList().getLast().getFileName());
    }
  }

  /// Lets another user pass through the folders of this one in which its folder is.
  private static void letIn(Path folder) throws IOException {
    Path at = folder;
    for (int i = 0; i < OWN_FOLDERS; i++) {
      at = at.getParent();
      if (at == null) return;
      var permissions = Files.getPosixFilePermissions(at);
      if (permissions.add(PosixFilePermission.OTHERS_EXECUTE)) {
        Files.setPosixFilePermissions(at, permissions);
      }
    }
  }

  private static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  private static void run(List<String> command, Path folder)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String said;
    try (var output = process.getInputStream()) {
      said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
    }
    if (process.waitFor() != 0) throw new IOException(command + ": " + said);
  }

  int port() {
    return port;
  }

  String url() {
    // One round trip for a batch of inserts, as a team would set it.
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?reWriteBatchedInserts=true";
  }

  String user() {
    return USER;
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(url(), USER, "");
  }

  /// Runs statements.
  void execute(String sql) throws SQLException {
    try (var connection = connect();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /// Returns the processor time of its processes that are alive.
  Duration processorTime() {
    return process.processorTimeOfAll();
  }

  @Override
  public void close() {
    process.close();
  }
}
