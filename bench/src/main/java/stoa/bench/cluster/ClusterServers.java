package stoa.bench.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import stoa.Stoa;

/// Servers of this engine that keep one store together, and the operations on them. Found with
/// `ServiceLoader`.
public interface ClusterServers {
  /// The number of servers of most phases.
  int SERVERS = 3;

  /// Starts servers, each in a process of its own, waits until they are settled (see
  /// [Running#settle()]), and connects a client.
  ///
  /// @param folder an empty folder for their data
  Running start(Path folder, Shape shape) throws Exception;

  /// The shape of a cluster.
  ///
  /// @param servers the number of servers
  /// @param groups the number of groups that keep the store
  /// @param replicas how many servers execute the calls of each; below 3, others keep its log
  /// @param parted whether each server is in a network namespace of its own, which needs
  ///   [#canPart()]
  record Shape(int servers, int groups, int replicas, boolean parted) {
    /// Returns the shape of three servers that execute all calls.
    static Shape of(int groups, boolean parted) {
      return new Shape(SERVERS, groups, SERVERS, parted);
    }
  }

  /// Returns whether the benchmark can cut servers off from each other here: on Linux, as root.
  boolean canPart();

  /// The traffic through the network device of a server so far.
  ///
  /// @param packets the packets that it sent
  /// @param bytes the bytes that it sent
  record Sent(long packets, long bytes) {}

  /// Running servers, by their number from 0. One thread operates on them; counters are
  /// thread-safe.
  interface Running extends AutoCloseable {
    /// Returns counters with the default order.
    ClusterContender.Counters counters();

    /// Returns counters without an order among each other.
    ClusterContender.Counters streams();

    /// Returns the client, for objects of the caller's own.
    Stoa stoa();

    /// Writes a number of bytes under a new key, as data to keep.
    void keep(String key, byte[] bytes);

    /// Returns the running servers.
    List<Integer> running();

    /// Returns the server that leads group 0. Waits until one does.
    int leader();

    /// Waits until every server has its data, nothing moves, and no log unit is about to give a
    /// leadership back to a server that executes.
    ///
    /// @throws IllegalStateException when that takes some minutes, with what is missing
    void settle();

    /// Kills a server.
    void kill(int server) throws InterruptedException;

    /// Pauses a server's process.
    void pause(int server) throws IOException, InterruptedException;

    /// Resumes it.
    void resume(int server) throws IOException, InterruptedException;

    /// Stops a server in order, as for its maintenance.
    void stop(int server) throws InterruptedException;

    /// Starts a killed or stopped server again.
    void startAgain(int server) throws IOException;

    /// Starts one more server; returns when it runs, before it has any data.
    int add() throws IOException, InterruptedException;

    /// Drains a server and ends it.
    void drain(int server) throws InterruptedException;

    /// Cuts a server off from the other servers; clients still reach it.
    void cut(int server) throws IOException, InterruptedException;

    /// Ends a cut.
    void heal(int server) throws IOException, InterruptedException;

    /// Returns the data directory of a server.
    Path directory(int server);

    /// Returns the traffic that a server has sent; for servers in network namespaces only.
    Sent sent(int server) throws IOException;

    /// Returns the processor time that each server's process has used, in nanoseconds.
    long processorNanos(int server);

    /// Closes the client and ends the servers.
    @Override
    void close() throws IOException;
  }
}
