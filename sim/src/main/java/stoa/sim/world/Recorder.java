package stoa.sim.world;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import stoa.sim.check.CallHistory;

/// Records the observations of the clients of a concurrent run, as a [CallHistory].
///
/// Thread-safe. Clients share nothing while they record but the clock, so that recording hides no
/// race. The stamp of a beginning comes before the call, and that of an end after its answer; equal
/// stamps count as overlapping. So a recorded call may seem longer than it was, never shorter, and
/// the checker never takes a correct run for a wrong one.
///
/// ```java
/// var recorder = new Recorder<CounterModel.Input, Long>();
/// // in each thread:
/// var client = recorder.client("client 1");
/// client.call(new CounterModel.Input.Increment(1), () -> counter.add(1));
/// // at the end:
/// Linearizability.require(new CounterModel(), recorder.history());
/// ```
///
/// @param <I> the input of a call
/// @param <O> the answer of a call
public final class Recorder<I, O> {
  private final LongSupplier clock;
  private final AtomicInteger calls = new AtomicInteger();
  private final ConcurrentLinkedQueue<Client<I, O>> clients = new ConcurrentLinkedQueue<>();

  /// Creates a recorder with the clock [System#nanoTime()].
  public Recorder() {
    this(System::nanoTime);
  }

  /// Creates a recorder with another clock, such as that of a simulation.
  ///
  /// @param clock never goes back, across threads; only the order of its readings counts
  public Recorder(LongSupplier clock) {
    this.clock = clock;
  }

  /// Returns a client with a name. One thread at a time may make its calls.
  public Client<I, O> client(String name) {
    var client = new Client<I, O>(name, clock, calls);
    clients.add(client);
    return client;
  }

  /// Returns the history. Call it when no client is recording.
  public CallHistory<I, O> history() {
    List<Stamped<I, O>> all = new ArrayList<>();
    for (var client : clients) all.addAll(client.events);
    // Of equal stamps the beginnings come first. The sort is stable.
    all.sort(
        Comparator.<Stamped<I, O>>comparingLong(Stamped::time)
            .thenComparing(stamped -> !(stamped.event() instanceof CallHistory.Invoked)));
    return new CallHistory<>(all.stream().map(Stamped::event).toList());
  }

  private record Stamped<I, O>(long time, CallHistory.Event<I, O> event) {}

  /// One client of a recorded run.
  ///
  /// @param <I> the input of a call
  /// @param <O> the answer of a call
  public static final class Client<I, O> {
    private final String name;
    private final LongSupplier clock;
    private final AtomicInteger calls;
    private final List<Stamped<I, O>> events = new ArrayList<>();

    private Client(String name, LongSupplier clock, AtomicInteger calls) {
      this.name = name;
      this.clock = clock;
      this.calls = calls;
    }

    /// Makes a call and records it. When it throws, the call stays pending and the caller gets the
    /// exception.
    public O call(I input, Callable<? extends O> body) throws Exception {
      var call = begin(input);
      O output = body.call();
      call.returned(output);
      return output;
    }

    /// Records the beginning of a call; use it before the call.
    public Open begin(I input) {
      int call = calls.getAndIncrement();
      events.add(new Stamped<>(clock.getAsLong(), new CallHistory.Invoked<>(call, name, input)));
      return new Open(call);
    }

    private void end(CallHistory.Event<I, O> event) {
      events.add(new Stamped<>(clock.getAsLong(), event));
    }

    /// A call that has begun. It is pending unless one of the methods is called; call at most one.
    public final class Open {
      private final int call;

      private Open(int call) {
        this.call = call;
      }

      /// Records the answer.
      public void returned(O output) {
        end(new CallHistory.Returned<>(call, output));
      }

      /// Records that the call will never answer, and that nothing can make it take effect later
      /// than now.
      public void lost() {
        end(new CallHistory.Lost<>(call));
      }

      /// Records that the call was refused and certainly has no effect: it leaves the history.
      public void refused() {
        for (int i = events.size() - 1; i >= 0; i--) {
          if (events.get(i).event().call() == call) {
            events.remove(i);
            return;
          }
        }
      }
    }
  }
}
