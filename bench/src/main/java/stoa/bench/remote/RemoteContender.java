package stoa.bench.remote;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;

/// A server with shared state, and its client, that the remote benchmark measures.
///
/// `ServiceLoader` finds those of other products. Implementations keep no state of their own; the
/// caller owns the servers that they start.
public interface RemoteContender {
  /// The fate of an answered change when the server's process is killed.
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

  /// The operations of a client.
  enum Operation {
    /// Replaces the value of a key.
    PUT,
    /// Adds one to a counter.
    INCREMENT,
    /// Adds an element at the end of a queue, and then removes the one at its head.
    QUEUE,
    /// Reads a number of which the client keeps a copy.
    CACHED
  }

  /// Thrown where a server cannot start because a program is not installed; the message names it,
  /// and how to get it.
  final class Missing extends Exception {
    private static final long serialVersionUID = 1;

    /// Creates the exception with the name of the missing program.
    public Missing(String message) {
      super(message);
    }
  }

  /// Returns its name in tables and figures.
  String name();

  /// Returns its operations at a persistence: none, where it lacks that persistence.
  Set<Operation> operations(Persistence persistence);

  /// Returns whether its clients have a [Meeting].
  default boolean meets() {
    return false;
  }

  /// Starts a server in a process of its own, which listens on the loopback device, and connects a
  /// client.
  ///
  /// @param folder an empty folder for the server's data
  /// @throws Missing when it cannot run on this machine
  Connection start(Path folder, Persistence persistence) throws Exception;

  /// A client of a running server without other clients.
  ///
  /// Thread-safe, except for [#close()]. A call returns when the server has answered. Unsupported
  /// operations throw [UnsupportedOperationException].
  interface Connection extends AutoCloseable {
    /// Returns the processor time that the server's process has used so far.
    Duration serverProcessorTime();

    /// Replaces the value of the one key, without reading it.
    void put(byte[] value) throws Exception;

    /// Returns the value of the one key.
    byte[] value() throws Exception;

    /// Adds one to a counter and returns its new value. Every counter begins at 0.
    long increment(int counter) throws Exception;

    /// Returns the value of a counter.
    long count(int counter) throws Exception;

    /// Adds an element at the end of the queue.
    void enqueue(long element) throws Exception;

    /// Removes and returns the element at the head of the queue.
    ///
    /// @throws IllegalStateException when it is empty
    long dequeue() throws Exception;

    /// Changes the number that [#cached()] returns; it is 0 before.
    void publish(long number) throws Exception;

    /// Returns the number, from the client's copy when that is valid.
    long cached() throws Exception;

    /// Returns what threads and programs coordinate with.
    ///
    /// @throws UnsupportedOperationException when it has nothing of that kind
    default Meeting meeting() {
      throw new UnsupportedOperationException("no locks, queues and barriers");
    }

    /// Closes the client and ends the server's process.
    @Override
    void close() throws IOException;
  }
}
