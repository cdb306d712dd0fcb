/// The one dependency of a program that keeps its store in its own process.
@org.jspecify.annotations.NullMarked
module stoa.embedded {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires stoa.collections;
  requires stoa.migration;
  requires stoa.objects;
}
