package stoa.traces;

import io.opentelemetry.api.OpenTelemetry;
import stoa.Stoa;
import stoa.base.Tracer;
import stoa.front.SharedStoa;

/// Records the calls of a program as OpenTelemetry's spans.
///
/// ```
/// var traces = StoaTraces.of(openTelemetry).bindTo(stoa);
/// ```
///
/// A call is recorded when it is part of a span that is recorded: the span that is current on the
/// thread of the caller. Other calls cost one look at that thread. Thread-safe.
public final class StoaTraces implements AutoCloseable {
  private static final String SCOPE = "dev.stoa";

  private final SharedStoa bound;

  private StoaTraces(Recording tracer, SharedStoa bound) {
    this.bound = bound;
    bound.trace(tracer);
  }

  /// The way in which calls are recorded.
  public static final class Binding {
    private final OpenTelemetry to;
    private final boolean keys;

    private Binding(OpenTelemetry to, boolean keys) {
      this.to = to;
      this.keys = keys;
    }

    /// Returns the same with the keys of objects among the attributes. A key may be personal data.
    public Binding withKeys() {
      return new Binding(to, true);
    }

    /// Begins to record the calls that a program makes on a store that it has open: embedded, or at
    /// a server.
    ///
    /// @throws IllegalArgumentException when another library made the store
    public StoaTraces bindTo(Stoa stoa) {
      if (stoa instanceof SharedStoa shared) return new StoaTraces(recording(), shared);
      throw new IllegalArgumentException(stoa + " is no store of Stoa.open");
    }

    /// Returns the port for a part of Stoa that records calls, such as a server.
    public Tracer tracer() {
      return recording();
    }

    private Recording recording() {
      return new Recording(to.getTracer(SCOPE), keys);
    }
  }

  /// Returns a way that records calls with the tracers of an OpenTelemetry.
  public static Binding of(OpenTelemetry to) {
    return new Binding(to, false);
  }

  /// Ends the recording of further calls.
  @Override
  public void close() {
    bound.trace(null);
  }
}
