package stoa.bench.remote;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;

/// A server with shared state, and its client, that the remote benchmark measures.
///
/// Those of other products are found with `ServiceLoader`. Implementations keep no state of their
/// own; what they start belongs to the caller.
public interface RemoteContender {
  /// What becomes of a change that was answered when the server's process is killed.
  enum Persistence {
    /// It is on the disk, forced, before the answer.
    SYNCED("durable"),
    /// It is gone: the server keeps all in memory.
    NONE("not durable");

    private final String words;

    Persistence(String words) {
      this.words = words;
    }

    @Override
    public String toString() {
      return words;
    }
  }

  /// What a client can ask for.
  enum Operation {
    /// Replacing the value of a key.
    PUT,
    /// Adding one to a counter.
    INCREMENT,
    /// Adding an element at the end of a queue, and then taking the one at its head.
    QUEUE,
    /// Reading a number that the client keeps a copy of.
    CACHED
  }

  /// Thrown where a server cannot be started because something is not installed; the message says
  /// what, and how to get it.
  final class Missing extends Exception {
    private static final long serialVersionUID = 1;

    /// With what is missing.
    public Missing(String message) {
      super(message);
    }
  }

  /// What it is called in tables and figures.
  String name();

  /// What it can do at a persistence: nothing, where it does not have that.
  Set<Operation> operations(Persistence persistence);

  /// Starts a server in a process of its own, which listens on the loopback device, and connects a
  /// client.
  ///
  /// @param folder an empty folder for the server's data
  /// @throws Missing when it cannot run on this machine
  Connection start(Path folder, Persistence persistence) throws Exception;

  /// A client of a running server that nobody else uses.
  ///
  /// Thread-safe, but for [#close()]. A call returns when the server has answered. What a contender
  /// cannot do it refuses with [UnsupportedOperationException].
  interface Connection extends AutoCloseable {
    /// The processor time that the server's process has used so far.
    Duration serverProcessorTime();

    /// Replaces the value of the one key; nothing is read.
    void put(byte[] value) throws Exception;

    /// The value of the one key.
    byte[] value() throws Exception;

    /// Adds one to a counter and returns its new value. Every counter begins at 0.
    long increment(int counter) throws Exception;

    /// What a counter is at.
    long count(int counter) throws Exception;

    /// Adds an element at the end of the queue.
    void enqueue(long element) throws Exception;

    /// Takes the element at the head of the queue.
    ///
    /// @throws IllegalStateException when it is empty
    long dequeue() throws Exception;

    /// Changes the number that [#cached()] answers; it is 0 before.
    void publish(long number) throws Exception;

    /// The number, from the client's copy when that is good.
    long cached() throws Exception;

    /// Closes the client and ends the server's process.
    @Override
    void close() throws IOException;
  }
}
