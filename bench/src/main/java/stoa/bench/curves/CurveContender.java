package stoa.bench.curves;

import java.io.IOException;
import java.nio.file.Path;
import stoa.bench.remote.RemoteContender;

/// Servers with numbered keys, counters and queues, for the curves over callers and objects.
///
/// `ServiceLoader` finds those of other products. Implementations keep no state of their own; the
/// caller owns the servers that they start.
public interface CurveContender {
  /// The most keys, counters and queues.
  int OBJECTS_MAX = 100;

  /// Returns its name in tables and figures, with the number of servers and the durability.
  String name();

  /// Starts servers, each in a process of its own, on the loopback device, and connects a client.
  ///
  /// @param folder an empty folder for their data
  /// @throws RemoteContender.Missing when it cannot run on this machine
  Target start(Path folder) throws Exception;

  /// A client of running servers. Thread-safe, except for [#close()]. A call returns when the
  /// servers have answered.
  interface Target extends AutoCloseable {
    /// Replaces the value of a key, without reading it.
    void put(int key, byte[] value) throws Exception;

    /// Adds one to a counter and returns its new value. Every counter begins at 0.
    long increment(int counter) throws Exception;

    /// Returns the value of a counter.
    long count(int counter) throws Exception;

    /// Adds an element below 2^40 at the end of a queue.
    void enqueue(int queue, long element) throws Exception;

    /// Removes and returns the element at the head of a queue.
    ///
    /// @throws IllegalStateException when it is empty
    long dequeue(int queue) throws Exception;

    /// Closes the client and ends the servers.
    @Override
    void close() throws IOException;
  }
}
