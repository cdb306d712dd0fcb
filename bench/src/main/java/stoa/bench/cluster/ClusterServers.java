package stoa.bench.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// Servers of this engine that keep one store together, and what can be done to them. Found with
/// `ServiceLoader`.
public interface ClusterServers {
  /// Starts servers, each in a process of its own, and connects a client.
  ///
  /// @param folder an empty folder for their data
  Running start(Path folder, Shape shape) throws Exception;

  /// How a store is kept.
  ///
  /// @param servers how many
  /// @param groups how many groups keep it
  /// @param replicas how many servers execute the calls of each; below 3, others keep its log
  /// @param parted whether each is in a network namespace of its own, which needs [#canPart()]
  record Shape(int servers, int groups, int replicas, boolean parted) {
    /// On three servers, which execute all calls.
    static Shape of(int groups, boolean parted) {
      return new Shape(ClusterRun.SERVERS, groups, ClusterRun.SERVERS, parted);
    }
  }

  /// Returns whether servers can be cut off from each other here: on Linux, by root.
  boolean canPart();

  /// What went through the network device of a server so far.
  ///
  /// @param packets that it sent
  /// @param bytes that it sent
  record Sent(long packets, long bytes) {}

  /// Servers that run, by their number from 0. One thread does things to them; counters are
  /// thread-safe.
  interface Running extends AutoCloseable {
    /// Counters of the order that objects have by default.
    ClusterContender.Counters counters();

    /// Counters without an order among each other.
    ClusterContender.Counters streams();

    /// Writes so many bytes under a new key, to have something to keep.
    void keep(String key, byte[] bytes);

    /// The servers that run.
    List<Integer> running();

    /// The server that leads group 0. Waits until one does.
    int leader();

    /// Waits until every server has what it should have, and nothing moves.
    void settle();

    /// Kills a server.
    void kill(int server) throws InterruptedException;

    /// Stops a server's process where it is.
    void pause(int server) throws IOException, InterruptedException;

    /// Has it go on.
    void resume(int server) throws IOException, InterruptedException;

    /// Ends a server in order, as for its maintenance.
    void stop(int server) throws InterruptedException;

    /// Starts a server again that was killed or stopped.
    void startAgain(int server) throws IOException;

    /// Starts one more server; returns when it runs, and before it has anything.
    int add() throws IOException, InterruptedException;

    /// Takes from a server all that it has, and ends it.
    void drain(int server) throws InterruptedException;

    /// Cuts a server off from the other servers; clients still reach it.
    void cut(int server) throws IOException, InterruptedException;

    /// Ends what [#cut] began.
    void heal(int server) throws IOException, InterruptedException;

    /// Where a server keeps its data.
    Path directory(int server);

    /// What a server has sent; of servers in network namespaces only.
    Sent sent(int server) throws IOException;

    /// The processor time that each server's process has used, in nanoseconds.
    long processorNanos(int server);

    /// Closes the client and ends the servers.
    @Override
    void close() throws IOException;
  }
}
