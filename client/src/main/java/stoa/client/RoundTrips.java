package stoa.client;

import java.util.concurrent.atomic.LongAdder;

/// The round trips to servers for which one transaction waits. Requests that are in progress at
/// once share one. The thread of the transaction uses it.
final class RoundTrips {
  // Those of all transactions of the client.
  private final LongAdder all;

  // How many it has waited for.
  private long over;

  RoundTrips(LongAdder all) {
    this.all = all;
  }

  /// Notes that a request begins.
  void begun(Outgoing asked) {
    asked.tripsBefore = over;
  }

  /// Notes that the transaction waits for the answer of a request.
  void awaited(Outgoing asked) {
    if (asked.tripsBefore == over) wholeTrip();
  }

  /// Notes that the transaction waits for one request alone.
  void wholeTrip() {
    over++;
    all.increment();
  }
}
