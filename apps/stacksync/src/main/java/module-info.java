/// StackSync, the personal cloud of the AOF and CRESON papers, on shared objects.
@org.jspecify.annotations.NullMarked
module stoa.stacksync {
  requires static transitive org.jspecify;
  requires transitive stoa.api;

  exports stoa.stacksync;
  exports stoa.stacksync.papers;
  exports stoa.stacksync.replay;
  exports stoa.stacksync.ubuntuone;
}
