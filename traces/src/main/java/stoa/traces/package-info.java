/// The traces of calls, for OpenTelemetry: [StoaTraces].
@org.jspecify.annotations.NullMarked
package stoa.traces;
