/// Changes of users' class files: checks by which a server can stop calls, and `new` and static
/// fields that are shared objects.
@org.jspecify.annotations.NullMarked
module stoa.weave {
  requires static transitive org.jspecify;
  requires transitive java.instrument;
  requires transitive stoa.api;

  exports stoa.weave;
}
