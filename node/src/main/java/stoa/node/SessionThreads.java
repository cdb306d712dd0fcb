package stoa.node;

import com.google.protobuf.ByteString;
import java.util.concurrent.Executor;

/// Where the work of one session runs. Thread-safe.
final class SessionThreads {
  // How many of its reads run at a time: each holds what it has read.
  private static final int READS_MAX = 32;

  private final Executor calls;
  private final Executor transactions;
  private final Executor reads;
  private final Lanes<ByteString> blobs;
  private final Lanes<Long> listeners;
  private final Lanes<ByteString> keys;

  /// @param all those of the server
  SessionThreads(ServerThreads all) {
    this.calls = all.callsOfSession();
    this.transactions = all.transactionsOfSession();
    this.reads = new Share(all.background(), READS_MAX);
    this.blobs = new Lanes<>(reads);
    this.listeners = new Lanes<>(calls);
    this.keys = new Lanes<>(calls);
  }

  /// Runs users' code.
  Executor calls() {
    return calls;
  }

  /// Runs the steps of transactions.
  Executor transactions() {
    return transactions;
  }

  /// Runs what reads much.
  Executor reads() {
    return reads;
  }

  /// What changes a blob, by its encoded key.
  Lanes<ByteString> blobs() {
    return blobs;
  }

  /// What is asked of a key of the key-value store, by its encoded form.
  Lanes<ByteString> keys() {
    return keys;
  }

  /// What is asked of a listener, by its number.
  Lanes<Long> listeners() {
    return listeners;
  }
}
