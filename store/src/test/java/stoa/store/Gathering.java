package stoa.store;

import stoa.store.threads.Gatherer;

/// A thread that writes the requests that it begins, and never calls the writer thread.
final class Gathering extends Thread implements Gatherer {
  Gathering(Runnable task) {
    super(task);
  }

  @Override
  public boolean isGathering() {
    return true;
  }
}
