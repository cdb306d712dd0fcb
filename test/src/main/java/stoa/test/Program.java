package stoa.test;

import java.io.IOException;

/// The program of a server: of one that keeps its store alone, or of one of several. One thread at
/// a time uses it.
interface Program {
  /// Starts it on what its disk has.
  ///
  /// @return the port at which it listens to clients
  int start() throws IOException;

  /// Ends it at once, when its disk is gone.
  void halt();

  /// Ends it in good order.
  void stop();
}
