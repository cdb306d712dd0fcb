/// The class loader of a server: it inserts checks into users' methods and loops, so that calls can
/// be stopped.
@org.jspecify.annotations.NullMarked
module stoa.weave {
  requires static transitive org.jspecify;
  requires transitive stoa.api;

  exports stoa.weave;
}
