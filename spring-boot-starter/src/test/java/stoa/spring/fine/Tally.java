package stoa.spring.fine;

import stoa.Shared;

/// An interface of shared objects, whose class is nested.
@Shared(name = "spring.Tally", implementation = Tally.Kept.class)
public interface Tally {
  /// Adds one.
  int add();

  /// Its class.
  class Kept implements Tally {
    private int sum;

    @Override
    public int add() {
      return ++sum;
    }
  }
}
