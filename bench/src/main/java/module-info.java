/// Benchmarks, each beside its physical limit.
@org.jspecify.annotations.NullMarked
module stoa.bench {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires stoa.objects;
  requires stoa.migration;
  requires stoa.collections;
  requires transitive stoa.classifier;
  requires transitive stoa.stacksync;
  requires stoa.storage;
  requires stoa.log;
  requires stoa.base;
  requires transitive stoa.programs;
  requires info.picocli;
  requires java.management;
  requires java.net.http;
  requires jdk.management;

  uses stoa.bench.cluster.ClusterContender;
  uses stoa.bench.cluster.ClusterServers;
  uses stoa.bench.stacksync.RequestQueue;
  uses stoa.bench.stacksync.StackSyncContender.Others;
  uses stoa.bench.storage.Contender;
  uses stoa.bench.cluster.RecordWorkloads;
  uses stoa.bench.maps.MapContender;
  uses stoa.bench.maps.ServedMaps;
  uses stoa.bench.curves.CurveContender;
  uses stoa.bench.tx.TransactionContender;
  uses stoa.bench.ycsb.YcsbContender.Others;

  exports stoa.bench;

  opens stoa.bench to
      info.picocli;
}
