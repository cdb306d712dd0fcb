package stoa.stacksync.replay;

import java.time.Duration;

/// The result of a replay.
///
/// @param changesBefore changes of the trace that the store had already
/// @param changes changes that were committed now
/// @param conflicts changes that were made on an old version: the service said so, and the client
///   sent them again on top of the newest
/// @param elapsed from the first commit to the last answer
/// @param latencies of each call of `doCommit` and `moveItems`
public record ReplayReport(
    int changesBefore, int changes, int conflicts, Duration elapsed, Latencies latencies) {
  /// Commits answered per second; 0 when there were none.
  public double commitsPerSecond() {
    return latencies.count() == 0 ? 0 : latencies.count() * 1e9 / elapsed.toNanos();
  }
}
