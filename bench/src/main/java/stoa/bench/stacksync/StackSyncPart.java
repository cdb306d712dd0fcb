package stoa.bench.stacksync;

/// A part of the benchmark of StackSync. Each has servers of its own, so that one can run without
/// the others.
public enum StackSyncPart {
  /// Each design on one server.
  SERVER,
  /// The same service on other stores.
  OTHERS,
  /// Clusters of servers.
  CLUSTERS,
  /// The same commits with caches of several sizes.
  CACHE,
  /// A queue of requests in front of the service.
  QUEUE
}
