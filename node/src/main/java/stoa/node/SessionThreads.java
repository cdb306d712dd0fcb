package stoa.node;

import com.google.protobuf.ByteString;
import java.util.concurrent.Executor;

/// Where the work of one session runs. Thread-safe.
final class SessionThreads {
  // The most of its reads at a time: each holds its data in memory.
  private static final int READS_MAX = 32;

  private final Executor calls;
  private final Executor transactions;
  private final Executor reads;
  private final Lane appends;
  private final Lanes<ByteString> blobs;
  private final Lanes<Long> listeners;
  private final Lanes<ByteString> keys;
  private final Lanes<Long> pins;

  /// Creates it.
  ///
  /// @param all the threads of the server
  SessionThreads(ServerThreads all) {
    this.calls = all.callsOfSession();
    this.transactions = all.transactionsOfSession();
    this.reads = new Share(all.background(), READS_MAX);
    this.appends = new Lane(reads);
    this.blobs = new Lanes<>(reads);
    this.listeners = new Lanes<>(calls);
    this.keys = new Lanes<>(calls);
    this.pins = new Lanes<>(all.background());
  }

  /// Returns the threads for users' code.
  Executor calls() {
    return calls;
  }

  /// Returns the threads for the steps of transactions.
  Executor transactions() {
    return transactions;
  }

  /// Returns the threads for large reads.
  Executor reads() {
    return reads;
  }

  /// Returns the lane of appends to streams.
  Lane appends() {
    return appends;
  }

  /// Returns the lanes of changes of a blob, by its encoded key.
  Lanes<ByteString> blobs() {
    return blobs;
  }

  /// Returns the lanes of requests on a key of the key-value store, by its encoded form.
  Lanes<ByteString> keys() {
    return keys;
  }

  /// Returns the lanes of requests for a listener, by its number.
  Lanes<Long> listeners() {
    return listeners;
  }

  /// Returns the lanes of requests for a pin, by its number.
  Lanes<Long> pins() {
    return pins;
  }
}
