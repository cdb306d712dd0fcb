/// Loads users' classes so that their calls can be stopped: at the entries of methods and the turns
/// of loops it weaves in a question whether to go on.
@org.jspecify.annotations.NullMarked
module stoa.weave {
  requires static transitive org.jspecify;
  requires stoa.api;

  exports stoa.weave;
}
