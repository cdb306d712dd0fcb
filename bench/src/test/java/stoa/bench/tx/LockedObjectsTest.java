package stoa.bench.tx;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class LockedObjectsTest {
  @Test
  void aWriterGivesUpWhatAReaderHoldsAndLetsGoOfTheRest() throws Exception {
    var objects = new LockedObjects(3);
    var held = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    Thread reader =
        Thread.ofPlatform()
            .start(() ->
                objects.read(
                    new int[] {1},
                    () -> {
                      held.countDown();
                      release.await();
                    }));
    held.await();
    assertFalse(objects.write(new int[] {0, 1}, 1));
    assertTrue(objects.write(new int[] {0, 2}, 1));
    assertTrue(objects.read(new int[] {0, 1, 2}, () -> {}));
    release.countDown();
    reader.join();
    assertTrue(objects.write(new int[] {0, 1}, 1));
  }
}
