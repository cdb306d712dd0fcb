package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import stoa.Blob;
import stoa.BlobSnapshot;
import stoa.BlobWrite;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;

/// Blobs of a store that has several replicas: what is so for others is so for these, and then all
/// replicas have the same bytes, also those that come late.
class ReplicatedBlobTest extends BlobTest {
  private static final StoaConfig CONFIG = StoaConfig.of("memory:");
  private final List<Replicas> stores = new ArrayList<>();
  private final Replicas lasting = new Replicas();

  @Override
  Stoa open(StoaConfig config) {
    if (config.url().startsWith("file:")) return lasting.open(config);
    var store = new Replicas();
    store.beginEarly(5);
    stores.add(store);
    return store.open(config);
  }

  @AfterEach
  void replicasAreTheSame() throws IOException {
    stores.add(lasting);
    for (Replicas store : stores) {
      store.verify();
      store.close();
    }
  }

  @Test
  @Override
  void aFullStoreRefusesAndGoesOn() {
    var full = new Replicas(1, 24 << 20);
    try (Stoa stoa = full.open(CONFIG)) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, new byte[] {1});
      assertThrows(
          StoaException.class,
          () -> {
            for (long at = 10; ; at += 1 << 20) blob.write(at, new byte[1 << 20]);
          });
      assertEquals(1, blob.read(0, 1)[0]);
      blob.truncate(10); // what is cut off makes room
      blob.write(10, new byte[1 << 20]);
      assertEquals(1, blob.read(0, 1)[0]);
      assertTrue(stoa.delete(blob));
    }
    full.close();
  }

  @Test
  void aWriteThatIsOpenWhenAnotherOneLeadsLeavesNothing() throws IOException {
    Stoa before = lasting.open(CONFIG);
    Blob blob = before.get(Blob.class, "a");
    blob.write(0, new byte[] {1, 1, 1});
    BlobWrite lost = blob.begin();
    lost.write(0, new byte[] {2, 2});
    // As after the end of its process: nobody gives the write up.
    try (Stoa after = lasting.open(CONFIG)) {
      Blob same = after.get(Blob.class, "a");
      assertEquals(1, same.version());
      assertEquals(2, same.write(1, new byte[] {3}));
      assertArrayEquals(new byte[] {1, 3, 1}, same.read(0, 3));
      assertEquals(1, lasting.objects(), "the parts of the write are gone");
      assertThrows(StoaException.class, lost::commit);
      lasting.verify();
    }
    before.close();
  }

  @Test
  void manyChangesComeToTheSameOverRestartsAndLateReplicas() throws IOException {
    for (int seed = 0; seed < 6; seed++) {
      var random = new SplittableRandom(seed);
      var store = new Replicas();
      stores.add(store);
      for (int restart = 0; restart < 4; restart++) {
        store.beginEarly(random.nextInt(40) + 1 + 60 * restart);
        try (Stoa stoa = store.open(CONFIG)) {
          for (int i = 0; i < 40; i++) change(stoa, random);
        }
        store.verify();
      }
    }
  }

  private static void change(Stoa stoa, SplittableRandom random) {
    Blob blob = stoa.get(Blob.class, random.nextInt(3));
    var bytes = new byte[random.nextInt(2_000)];
    random.nextBytes(bytes);
    int at = random.nextInt(8_000);
    switch (random.nextInt(10)) {
      case 0 -> blob.truncate(at);
      case 1 -> blob.attribute("name " + at % 3, bytes);
      case 2 -> blob.removeAttribute("name " + at % 3);
      case 3, 4 -> several(blob, at, bytes, random);
      case 5 -> {
        if (blob.version() > 0 && blob.snapshots().size() < 5) blob.snapshot();
      }
      case 6 -> {
        List<BlobSnapshot> kept = blob.snapshots();
        if (!kept.isEmpty()) kept.get(at % kept.size()).release();
      }
      case 7 -> {
        if (at % 4 == 0) assertTrue(stoa.delete(blob) || blob.version() == 0);
      }
      default -> blob.write(at, bytes);
    }
  }

  private static void several(Blob blob, int at, byte[] bytes, SplittableRandom random) {
    try (BlobWrite write = blob.begin()) {
      if (random.nextInt(3) == 0) write.truncate(random.nextInt(8_000));
      write.write(at, bytes);
      if (random.nextBoolean()) write.attribute("name 0", bytes);
      if (random.nextInt(3) == 0) write.truncate(random.nextInt(8_000));
      if (random.nextBoolean()) write.write(random.nextInt(8_000), bytes);
      if (random.nextInt(3) == 0) write.removeAttribute("name 1");
      if (random.nextInt(4) > 0) write.commit();
    }
  }
}
