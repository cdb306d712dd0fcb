package stoa.traces;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import org.jspecify.annotations.Nullable;
import stoa.base.Trace;
import stoa.base.TraceParent;
import stoa.base.Tracer;

/// Records calls with one of OpenTelemetry's tracers. Thread-safe.
///
/// @param tracer makes the spans
/// @param showsKeys whether it records the keys of objects
record Recording(io.opentelemetry.api.trace.Tracer tracer, boolean showsKeys) implements Tracer {
  @Override
  public boolean isRecording() {
    // Each call asks; most have no context at all.
    Context current = ContextStorage.get().current();
    if (current == null) return false;
    Span span = Span.fromContextOrNull(current);
    return span != null && span.getSpanContext().isSampled();
  }

  @Override
  public Trace program(String name) {
    return begin(name, SpanKind.CLIENT, Context.current());
  }

  @Override
  public @Nullable Trace served(TraceParent parent, String name) {
    return below(parent, name, SpanKind.SERVER);
  }

  @Override
  public @Nullable Trace delivered(TraceParent parent, String name) {
    return below(parent, name, SpanKind.CONSUMER);
  }

  private @Nullable Trace below(TraceParent parent, String name, SpanKind kind) {
    if (!parent.isSampled()) return null;
    SpanContext remote =
        SpanContext.createFromRemoteParent(
            parent.trace(), parent.span(), TraceFlags.getSampled(), TraceState.getDefault());
    if (!remote.isValid()) return null;
    return begin(name, kind, Context.root().with(Span.wrap(remote)));
  }

  private Trace begin(String name, SpanKind kind, Context parent) {
    Span span = tracer.spanBuilder(name).setSpanKind(kind).setParent(parent).startSpan();
    return new SpanTrace(tracer, parent.with(span), span);
  }
}
