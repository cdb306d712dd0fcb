/// The traces of calls, for OpenTelemetry.
@org.jspecify.annotations.NullMarked
module stoa.traces {
  requires static transitive org.jspecify;
  requires transitive io.opentelemetry.api;
  requires transitive stoa.front;
  requires io.opentelemetry.context;

  exports stoa.traces;
}
