package stoa.store;

import stoa.store.threads.Gatherer;

/// A thread that leads what it begins, and calls the writer for nothing.
final class Gathering extends Thread implements Gatherer {
  Gathering(Runnable task) {
    super(task);
  }

  @Override
  public boolean isGathering() {
    return true;
  }
}
