package stoa.test;

/// The work of each thread of [StoaAssertions#assertLinearizable].
///
/// @param <T> the shared class
@FunctionalInterface
public interface Workload<T> {
  /// Makes the calls of one thread.
  ///
  /// @throws Exception what fails the test
  void run(Caller<T> caller) throws Exception;
}
