/// Benchmarks, each beside its physical limit.
@org.jspecify.annotations.NullMarked
module stoa.bench {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires stoa.objects;
  requires stoa.migration;
  requires transitive stoa.classifier;
  requires stoa.storage;
  requires stoa.log;
  requires stoa.base;
  requires transitive stoa.programs;
  requires info.picocli;
  requires java.management;
  requires jdk.management;

  uses stoa.bench.ClusterContender;
  uses stoa.bench.ClusterServers;
  uses stoa.bench.Contender;
  uses stoa.bench.RecordWorkloads;
  uses stoa.bench.TransactionContender;

  exports stoa.bench;

  opens stoa.bench to
      info.picocli;
}
