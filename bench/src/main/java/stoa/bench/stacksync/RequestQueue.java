package stoa.bench.stacksync;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import stoa.bench.remote.RemoteContender;

/// A queue of requests in front of instances of the service, each a process of its own.
/// Implementations keep no state of their own; the caller owns what they start.
public interface RequestQueue {
  /// Returns its name in tables.
  String name();

  /// Returns the fate of a request whose instance ends before its commit, in a few words.
  String delivery();

  /// Starts an empty queue.
  ///
  /// @param folder an empty folder
  /// @throws RemoteContender.Missing when it cannot run on this machine
  Running start(Path folder) throws Exception;

  /// Connects one thread of an instance, in the process of the instance.
  ///
  /// @param address of the running queue
  Taker taker(String address) throws Exception;

  /// A running queue. One thread fills it and closes it.
  interface Running extends AutoCloseable {
    /// Returns the address for [RequestQueue#taker].
    String address();

    /// Puts requests into the queue, and then an end for each taker.
    void put(List<byte[]> requests, int instances, int takersEach) throws Exception;

    /// Called when an instance begins to take requests.
    ///
    /// @param input the standard input of the instance
    default void begin(int instance, OutputStream input) throws IOException {}

    /// Called when an instance says that a request is done, see [Taker].
    default void done(int instance) throws IOException {}

    /// Returns the processor time that the queue's processes have used so far.
    Duration processorTime();

    /// Ends it.
    @Override
    void close() throws IOException;
  }

  /// Takes the requests of one thread of an instance. One thread uses it.
  interface Taker extends AutoCloseable {
    /// Returns the next request; empty at the end. The request before it is done.
    Optional<byte[]> next() throws Exception;

    @Override
    void close() throws IOException;
  }
}
