package stoa.migration;

import stoa.Tree;

/// The receiver of the disconnections of a process. Thread-safe.
public interface Disconnections {
  /// A receiver for a process whose program wants to know nothing.
  Disconnections UNNOTICED =
      new Disconnections() {
        @Override
        public void happened(Tree.Disconnected disconnected) {}

        @Override
        public boolean areThrown() {
          return false;
        }
      };

  /// Receives a disconnection. A member reports one after the other, and waits for none.
  void happened(Tree.Disconnected disconnected);

  /// Returns whether the first call after a disconnection throws if something may be lost, see
  /// [Tree#throwAfterLoss].
  boolean areThrown();
}
