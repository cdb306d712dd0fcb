package stoa.peers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import stoa.bench.remote.RemoteContender;

/// PL/Proxy: a server of PostgreSQL that sends each call of a function to the database of its user.
/// Debian's package is unpacked into a folder of the build without being installed.
final class PlProxy {
  private static final String LIBRARY = "plproxy.so";

  private PlProxy() {}

  /// Makes a server the proxy of others: it gets each function that they have.
  static void set(PostgresServer proxy, List<PostgresServer> shards)
      throws IOException, InterruptedException, SQLException, RemoteContender.Missing {
    Path library = library();
    proxy.execute(
        "create function plproxy_call_handler() returns language_handler as '%s' language c"
            .formatted(library));
    proxy.execute("create language plproxy handler plproxy_call_handler");
    proxy.execute("create schema plproxy");
    var addresses = new StringBuilder();
    for (var shard : shards) {
      addresses
          .append(addresses.isEmpty() ? "" : ", ")
          .append(
              "'dbname=postgres host=127.0.0.1 port=%d user=%s'"
                  .formatted(shard.port(), shard.user()));
    }
    proxy.execute(
        """
        create function plproxy.get_cluster_version(text) returns int language sql as 'select 1';
        create function plproxy.get_cluster_config(text, out key text, out val text)
        returns setof record language sql as 'select null::text, null::text where false';
        create function plproxy.get_cluster_partitions(text) returns setof text language sql as
        $$ select unnest(array[%s]) $$;
        """
            .formatted(addresses));
    for (var function : functions(shards.getFirst())) proxy.execute(function);
  }

  /// Returns the definitions on the proxy: the same parameters and results, and where to run.
  private static List<String> functions(PostgresServer shard) throws SQLException {
    var functions = new ArrayList<String>();
    try (var connection = shard.connect();
        var ask = connection.createStatement();
        var rows =
            ask.executeQuery(
                """
                select proname, pg_get_function_arguments(oid), pg_get_function_result(oid),
                  proargnames[1]
                from pg_proc where pronamespace = 'public'::regnamespace
                  and proargnames[1] in ('p_user', 'p_mail') and proname not like 'require%'
                """)) {
      while (rows.next()) {
        boolean onAll = rows.getString(4).equals("p_mail");
        functions.add(
            "create function %s(%s) returns %s language plproxy as $$ cluster 'shards'; run on %s; $$"
                .formatted(
                    rows.getString(1),
                    rows.getString(2),
                    rows.getString(3),
                    onAll ? "all" : "hashtext(p_user::text)"));
      }
    }
    return functions;
  }

  /// Finds the library, or gets it.
  private static Path library() throws IOException, InterruptedException, RemoteContender.Missing {
    String version = PostgresServer.version();
    Path installed = Path.of("/usr/lib/postgresql", version, "lib", LIBRARY);
    if (Files.exists(installed)) return installed;
    // In a folder that the user postgres can read, wherever the build is.
    Path folder = Path.of(System.getProperty("java.io.tmpdir"), "stoa-plproxy-" + version);
    Path library = folder.resolve("usr/lib/postgresql/" + version + "/lib/" + LIBRARY);
    try {
      if (!Files.exists(library)) unpack("postgresql-" + version + "-plproxy", folder);
      return library;
    } catch (IOException e) {
      throw new RemoteContender.Missing(
          "PL/Proxy could not be had (%s); install it: apt install postgresql-%s-plproxy"
              .formatted(e.getMessage(), version));
    }
  }

  /// Downloads and unpacks the package. The folder appears when it is complete.
  private static void unpack(String name, Path folder) throws IOException, InterruptedException {
    Path work = Files.createTempDirectory("stoa-plproxy-");
    try {
      run(work, List.of("apt-get", "download", name));
      Path archive;
      try (Stream<Path> files = Files.list(work)) {
        archive = files.findFirst().orElseThrow(() -> new IOException("nothing was downloaded"));
      }
      Path content = Files.createDirectory(work.resolve("content"));
      run(work, List.of("dpkg", "-x", archive.toString(), content.toString()));
      Files.setPosixFilePermissions(content, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.move(content, folder);
    } finally {
      try (Stream<Path> left = Files.walk(work)) {
        for (Path path : left.sorted(Comparator.reverseOrder()).toList()) Files.delete(path);
      }
    }
  }

  private static void run(Path folder, List<String> command)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String said;
    try (var output = process.getInputStream()) {
      said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
    }
    if (process.waitFor() != 0) throw new IOException(said.lines().reduce("", (_, last) -> last));
  }
}
