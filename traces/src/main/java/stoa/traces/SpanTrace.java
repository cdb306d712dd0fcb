package stoa.traces;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import org.jspecify.annotations.Nullable;
import stoa.base.Trace;
import stoa.base.TraceParent;

/// A span. Thread-safe.
///
/// @param tracer makes the spans below it
/// @param context has the span as its current one
record SpanTrace(Tracer tracer, Context context, Span span) implements Trace {
  @Override
  public <R extends @Nullable Object, X extends Throwable> R run(Work<R, X> work) throws X {
    try (Scope _ = context.makeCurrent()) {
      return Trace.super.run(work);
    }
  }

  @Override
  public TraceParent parent() {
    SpanContext place = span.getSpanContext();
    return new TraceParent(place.getTraceId(), place.getSpanId(), place.isSampled());
  }

  @Override
  public Trace child(String name) {
    Span below = tracer.spanBuilder(name).setParent(context).startSpan();
    return new SpanTrace(tracer, context.with(below), below);
  }

  @Override
  public void tag(String name, String value) {
    span.setAttribute(name, value);
  }

  @Override
  public void tag(String name, long value) {
    span.setAttribute(name, value);
  }

  @Override
  public void event(String name) {
    span.addEvent(name);
  }

  @Override
  public void fail(String why) {
    span.setStatus(StatusCode.ERROR, why);
  }

  @Override
  public void end(@Nullable Throwable failure) {
    if (failure != null) {
      span.setStatus(StatusCode.ERROR, String.valueOf(failure.getMessage()));
      span.recordException(failure);
    }
    span.end();
  }
}
