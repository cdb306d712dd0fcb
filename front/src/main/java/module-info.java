/// The caller's side: proxies, marshalling, and the objects that programs hold in place of shared
/// objects.
@org.jspecify.annotations.NullMarked
module stoa.front {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive stoa.base;
  requires org.apache.fory.core;
  requires org.objenesis;
  requires org.slf4j;
  requires jdk.unsupported; // makes objects without constructors

  exports stoa.front;
  exports stoa.front.code;
  exports stoa.front.marshal;
  exports stoa.front.proxy;
  exports stoa.front.types;
}
