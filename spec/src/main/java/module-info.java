/// The commit protocol as a specification in TLA+, and the runner that has TLC check it.
@org.jspecify.annotations.NullMarked
module stoa.spec {
  requires static transitive org.jspecify;

  exports stoa.spec;
}
