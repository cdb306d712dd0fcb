/// Benchmarks, each beside its physical limit.
@org.jspecify.annotations.NullMarked
module stoa.bench {
  requires static transitive org.jspecify;
  requires stoa.objects;
}
