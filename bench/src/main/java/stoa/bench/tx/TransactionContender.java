package stoa.bench.tx;

import java.io.IOException;
import java.nio.file.Path;

/// An engine of durable transactions that the benchmark of transactions measures.
///
/// `ServiceLoader` finds those of other products. Implementations keep no state of their own; the
/// caller owns the stores that they open.
public interface TransactionContender {
  /// Returns its name in tables and figures.
  String name();

  /// Returns how it makes a transaction durable, in a line.
  String how();

  /// Opens a store in an empty folder, with numbers, all 0.
  ///
  /// @param objects the number of numbers
  Store open(Path folder, int objects) throws Exception;

  /// An open store. Thread-safe, except for [#close()].
  interface Store extends AutoCloseable {
    /// Reads some numbers and adds one to each, in one transaction, repeated until it commits. The
    /// commit is durable on return.
    ///
    /// @param objects the indexes of the numbers, each once
    void addOne(int[] objects) throws Exception;

    /// Returns the sum of all numbers.
    long sum() throws Exception;

    @Override
    void close() throws IOException;
  }
}
