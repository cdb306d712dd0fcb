/// The tools of every layer: checks, identifiers, encodings, clocks.
@org.jspecify.annotations.NullMarked
module stoa.base {
  requires static transitive org.jspecify;

  exports stoa.base;
}
