package stoa.sim.world;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import stoa.sim.check.CallHistory;

/// Records what the clients of a concurrent run see, as a [CallHistory].
///
/// Thread-safe. Clients share nothing while they record but the clock, so that recording hides no
/// race. A beginning is stamped before the call is made and an end after it has answered; equal
/// stamps count as overlapping. So a recorded call may seem longer than it was, never shorter, and
/// no correct run is taken for a wrong one.
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
/// @param <I> what a call is
/// @param <O> what a call answers
public final class Recorder<I, O> {
  private final LongSupplier clock;
  private final AtomicInteger calls = new AtomicInteger();
  private final ConcurrentLinkedQueue<Client<I, O>> clients = new ConcurrentLinkedQueue<>();

  /// A recorder by [System#nanoTime()].
  public Recorder() {
    this(System::nanoTime);
  }

  /// A recorder by another clock, as a simulation has one.
  ///
  /// @param clock never goes back, across threads; only the order of its readings counts
  public Recorder(LongSupplier clock) {
    this.clock = clock;
  }

  /// A client of that name. Its calls may come from one thread at a time.
  public Client<I, O> client(String name) {
    var client = new Client<I, O>(name, clock, calls);
    clients.add(client);
    return client;
  }

  /// What was seen. To be asked when no client is recording.
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
  /// @param <I> what a call is
  /// @param <O> what a call answers
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

    /// Makes a call and records it. When it throws, the call stays pending and the exception goes
    /// on to the caller.
    public O call(I input, Callable<? extends O> body) throws Exception {
      var call = begin(input);
      O output = body.call();
      call.returned(output);
      return output;
    }

    /// Records that a call begins; to be asked before it is made.
    public Open begin(I input) {
      int call = calls.getAndIncrement();
      events.add(new Stamped<>(clock.getAsLong(), new CallHistory.Invoked<>(call, name, input)));
      return new Open(call);
    }

    private void end(CallHistory.Event<I, O> event) {
      events.add(new Stamped<>(clock.getAsLong(), event));
    }

    /// A call that has begun. Until it is told otherwise the recorder takes it for pending. At most
    /// one of its methods may be called.
    public final class Open {
      private final int call;

      private Open(int call) {
        this.call = call;
      }

      /// The call answered.
      public void returned(O output) {
        end(new CallHistory.Returned<>(call, output));
      }

      /// The call will never answer, and nothing can make it take effect later than now.
      public void lost() {
        end(new CallHistory.Lost<>(call));
      }

      /// The call was refused and surely has no effect: it is taken out of the history.
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
