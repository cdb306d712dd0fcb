package stoa.test;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaException;
import stoa.storage.disk.StorageException;

/// Releases what a store has in this process after its end. Its disk is gone by then, so that
/// closing it fails where it would write.
final class Abrupt {
  private static final Logger LOG = LoggerFactory.getLogger(Abrupt.class);

  private Abrupt() {}

  static void close(AutoCloseable ended) {
    run(ended::close);
  }

  interface Ending {
    void run() throws Exception;
  }

  static void run(Ending ending) {
    try {
      ending.run();
    } catch (StoaException | StorageException expected) {
      LOG.debug("a store was killed", expected);
    } catch (RuntimeException unexpected) {
      throw unexpected;
    } catch (Exception unexpected) {
      throw new IllegalStateException(unexpected);
    }
  }
}
