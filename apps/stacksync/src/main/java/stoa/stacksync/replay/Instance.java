package stoa.stacksync.replay;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import stoa.Stoa;
import stoa.stacksync.Design;
import stoa.stacksync.Facade;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

/// A service instance, as in section VI.B of the CRESON paper: takes orders from a queue, commits
/// each on one of several threads through a facade of that thread, and answers.
///
/// The queue is a [Dispatch], mostly in another process. An instance may end at any moment and be
/// begun again under its name: an order that comes twice is harmless, see [Committer].
///
/// Owned by one thread, which calls [#run] once.
public final class Instance {
  private final Stoa store;
  private final Orders orders;
  private final Design design;
  private final String name;
  private final int clients;
  private final Outage outage;
  private final ReentrantLock reading = new ReentrantLock();
  private final ReentrantLock writing = new ReentrantLock();

  /// @param name chooses the facades: no other instance may have it at the same time
  /// @param clients how many threads commit at once
  /// @param outage how long the store may be away
  public Instance(Stoa store, Trace trace, Design design, String name, int clients, Outage outage) {
    this.store = store;
    this.orders = new Orders(trace);
    this.design = design;
    this.name = name;
    this.clients = clients;
    this.outage = outage;
  }

  /// Works until there are no more orders.
  ///
  /// @param lines orders of a [Dispatch]
  /// @param answers takes lines for that dispatch, one at a time
  /// @throws IllegalStateException when the service refuses what it should take
  public void run(Reader lines, Consumer<String> answers) throws InterruptedException {
    var in = new BufferedReader(lines);
    var works = new ArrayList<Crew.Work>();
    for (int i = 0; i < clients; i++) {
      var service = Services.open(store, name + "-" + i, design);
      if (service instanceof Facade facade) finishInterrupted(facade);
      works.add(() -> {
        for (var line = next(in); line.isPresent(); line = next(in)) {
          answer(answers, commit(service, orders.batch(line.get())));
        }
      });
    }
    Crew.run(name, works);
  }

  /// Finishes interrupted calls: a call that an earlier instance of this name had in progress
  /// continues when its facade is used again, and is over on return. A repeated order may go to
  /// another facade.
  private void finishInterrupted(Facade facade) {
    var found = outage.bridge(facade::design);
    if (found != design) {
      throw new IllegalArgumentException(
          name + " was begun in the design " + found + ", not " + design);
    }
  }

  private Done commit(SyncService service, Batch batch) {
    var committer = new Committer(service, Observer.none(), outage);
    committer.commit(batch);
    return new Done(batch.number, committer.conflicts(), committer.nanos());
  }

  private Optional<String> next(BufferedReader in) {
    reading.lock();
    try {
      return Optional.ofNullable(in.readLine());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      reading.unlock();
    }
  }

  private void answer(Consumer<String> answers, Done done) {
    writing.lock();
    try {
      answers.accept(done.text());
    } finally {
      writing.unlock();
    }
  }
}
