package stoa.bench.tx;

import java.io.IOException;
import java.nio.file.Path;

/// A way to run durable transactions that the benchmark of transactions measures.
///
/// Those of other engines are found with `ServiceLoader`. Implementations keep no state of their
/// own; what they open belongs to the caller.
public interface TransactionContender {
  /// What it is called in tables and figures.
  String name();

  /// How it makes a transaction durable, in a line.
  String how();

  /// Opens a store in an empty folder, with numbers, all 0.
  ///
  /// @param objects how many
  Store open(Path folder, int objects) throws Exception;

  /// An open store. Thread-safe, but for [#close()].
  interface Store extends AutoCloseable {
    /// Reads some numbers and adds one to each, in one transaction, again until it commits. When it
    /// returns, that is durable.
    ///
    /// @param objects which, each once
    void addOne(int[] objects) throws Exception;

    /// The sum of all numbers.
    long sum() throws Exception;

    @Override
    void close() throws IOException;
  }
}
