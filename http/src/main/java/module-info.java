/// The objects of a server as JSON over HTTP, and their description in OpenAPI.
@org.jspecify.annotations.NullMarked
module stoa.http {
  requires static transitive org.jspecify;
  requires transitive com.google.gson;
  requires transitive stoa.node;
  requires org.slf4j;

  exports stoa.http;
}
