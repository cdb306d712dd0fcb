package stoa.objects;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.AlreadyExists;
import stoa.Blob;
import stoa.BlobExtent;
import stoa.BlobSnapshot;
import stoa.BlobVersions;
import stoa.BlobWrite;
import stoa.Call;
import stoa.Closed;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.View;

class BlobTest {
  @TempDir Path directory;

  private static byte[] text(String text) {
    return text.getBytes(UTF_8);
  }

  private static String read(Blob blob, long offset, int length) {
    return new String(blob.read(offset, length), UTF_8);
  }

  private static void says(Throwable refused, String what) {
    assertTrue(String.valueOf(refused.getMessage()).contains(what), refused::toString);
  }

  /// Opens a store of the kind that is tested.
  Stoa open(StoaConfig config) {
    return Stoa.open(config);
  }

  private Stoa memory() {
    return open(StoaConfig.of("memory:"));
  }

  private Stoa file() {
    return open(StoaConfig.of("file:" + directory));
  }

  // ---- bytes and versions

  @Test
  void readsWhatWasWrittenAndZeroElsewhere() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      assertEquals(1, blob.write(4, text("four")));
      assertEquals(2, blob.write(6, ByteBuffer.wrap(text("--six")).position(2)));
      assertEquals("\0\0\0\0fosix\0\0\0", read(blob, 0, 12));
      assertEquals(9, blob.size());
      var target = ByteBuffer.allocate(4).position(1);
      blob.read(5, target);
      assertArrayEquals(text("\0osi"), target.array());
      assertEquals(2, blob.version());
    }
  }

  @Test
  void keepsASparseSpaceUpToTheLastOffset() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "sparse");
      blob.write(Long.MAX_VALUE - 3, text("end"));
      assertEquals(Long.MAX_VALUE, blob.size());
      assertEquals("\0end", read(blob, Long.MAX_VALUE - 4, 4));
      assertThrows(
          IllegalArgumentException.class, () -> blob.write(Long.MAX_VALUE - 2, text("end")));
      assertThrows(IllegalArgumentException.class, () -> blob.write(-1, text("x")));
      assertThrows(IllegalArgumentException.class, () -> blob.read(-1, 1));
      assertThrows(IllegalArgumentException.class, () -> blob.read(Long.MAX_VALUE, 1));
      assertThrows(IllegalArgumentException.class, () -> blob.read(0, -1));
      assertThrows(IllegalArgumentException.class, () -> blob.truncate(-1));
      assertEquals(1, blob.version());
    }
  }

  @Test
  void aRangeThatIsRefusedBeginsNoBlob() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "none");
      assertThrows(IllegalArgumentException.class, () -> blob.write(-1, text("x")));
      assertThrows(
          IllegalArgumentException.class, () -> blob.writeAsync(-1, ByteBuffer.allocate(1)));
      assertTrue(stoa.find(Blob.class, "none").isEmpty());
    }
  }

  @Test
  void truncatingTakesBytesAwayAndIsAVersion() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, text("0123456789"));
      assertEquals(2, blob.truncate(4));
      assertEquals(4, blob.size());
      assertEquals("0123\0\0", read(blob, 0, 6));
      assertEquals(3, blob.truncate(100));
      assertEquals(4, blob.size());
      blob.write(8, text("8"));
      assertEquals("0123\0\0\0\0008", read(blob, 0, 9));
    }
  }

  @Test
  void attributesAreVersionedToo() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      assertEquals(Optional.empty(), blob.attribute("type"));
      assertEquals(1, blob.attribute("type", text("film")));
      assertEquals(2, blob.attribute("owner", text("me")));
      assertArrayEquals(text("film"), blob.attribute("type").orElseThrow());
      assertEquals(List.of("owner", "type"), List.copyOf(blob.attributes().keySet()));
      assertEquals(3, blob.removeAttribute("type"));
      assertEquals(Optional.empty(), blob.attribute("type"));
      assertThrows(IllegalArgumentException.class, () -> blob.attribute("", text("x")));
      assertThrows(
          IllegalArgumentException.class, () -> blob.attribute("big", new byte[(64 << 10) + 1]));
      assertEquals(3, blob.version());
    }
  }

  @Test
  void severalRangesBecomeOneVersion() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, text("before"));
      try (BlobWrite write = blob.begin()) {
        write.truncate(0);
        write.write(0, text("head"));
        write.writeAsync(10, ByteBuffer.wrap(text("tail"))).join();
        write.attribute("parts", text("2"));
        assertEquals("before", read(blob, 0, 6));
        assertEquals(1, blob.version());
        assertEquals(2, write.commit());
        assertThrows(IllegalStateException.class, write::commit);
        assertThrows(IllegalStateException.class, () -> write.write(0, text("x")));
      }
      assertEquals("head\0\0\0\0\0\0tail", read(blob, 0, 14));
      assertArrayEquals(text("2"), blob.attribute("parts").orElseThrow());
    }
  }

  @Test
  void aWriteThatIsNotCommittedLeavesNothing() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, text("kept"));
      try (BlobWrite write = blob.begin()) {
        write.write(0, text("lost"));
      }
      assertEquals("kept", read(blob, 0, 4));
      assertEquals(2, blob.write(0, text("next")));
    }
  }

  @Test
  void openWritesGetTheirVersionsInTheOrderOfTheirCommits() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      try (BlobWrite first = blob.begin();
          BlobWrite second = blob.begin()) {
        first.write(0, text("1111"));
        second.write(2, text("2222"));
        assertEquals(1, second.commit());
        assertEquals(2, blob.write(5, text("3333")));
        assertEquals(3, first.commit());
      }
      assertEquals("111123333", read(blob, 0, 9));
      assertEquals(
          List.of(
              new BlobExtent(0, 4, 3, BlobExtent.Content.DATA),
              new BlobExtent(4, 1, 1, BlobExtent.Content.DATA),
              new BlobExtent(5, 4, 2, BlobExtent.Content.DATA)),
          blob.history());
    }
  }

  @Test
  void historySaysWhichVersionCoversWhichBytes() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, new byte[100]);
      blob.write(10, new byte[20]);
      blob.truncate(50);
      var seen = new ArrayList<BlobExtent>();
      blob.history(
          5,
          60,
          extent -> {
            seen.add(extent);
            return seen.size() < 4;
          });
      assertEquals(
          List.of(
              new BlobExtent(5, 5, 1, BlobExtent.Content.DATA),
              new BlobExtent(10, 20, 2, BlobExtent.Content.DATA),
              new BlobExtent(30, 20, 1, BlobExtent.Content.DATA),
              new BlobExtent(50, 10, 3, BlobExtent.Content.HOLE)),
          seen);
      assertEquals(3, blob.history().getLast().version());
    }
  }

  @Test
  void copiesFromAndToStreams() throws IOException {
    byte[] film = new byte[3_500_000];
    new SplittableRandom(7).nextBytes(film);
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "film");
      blob.write(4_000_000, text("cut off"));
      assertEquals(2, blob.copyFrom(new ByteArrayInputStream(film)));
      var copy = new ByteArrayOutputStream();
      assertEquals(film.length, blob.copyTo(copy));
      assertArrayEquals(film, copy.toByteArray());
      var ends =
          new InputStream() {
            @Override
            public int read() throws IOException {
              throw new IOException("the line is dead");
            }

            @Override
            public int read(byte[] target, int from, int length) throws IOException {
              return read();
            }
          };
      var broken = new SequenceInputStream(new ByteArrayInputStream(new byte[3 << 20]), ends);
      assertThrows(IOException.class, () -> blob.copyFrom(broken));
      assertEquals(2, blob.version());
      assertArrayEquals(film, blob.read(0, film.length));
    }
  }

  // ---- snapshots

  @Test
  void aSnapshotKeepsAVersionUntilItIsReleased() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      assertThrows(IllegalStateException.class, blob::snapshot);
      blob.write(0, text("first"));
      BlobSnapshot first = blob.snapshot();
      blob.write(0, text("SEC"));
      blob.attribute("late", text("x"));
      BlobSnapshot third = blob.snapshot();
      blob.truncate(0);
      assertEquals("first", new String(first.read(0, 5), UTF_8));
      assertEquals("SECst", new String(blob.at(3).read(0, 5), UTF_8));
      assertEquals(Optional.empty(), first.attribute("late"));
      assertEquals(List.of("late"), List.copyOf(third.attributes().keySet()));
      assertEquals(List.of(1L, 3L), blob.snapshots().stream().map(BlobSnapshot::version).toList());
      assertEquals(5, first.size());
      assertEquals(0, blob.size());
      first.release();
      first.release();
      assertThrows(TooOld.class, () -> first.read(0, 5));
      assertThrows(TooOld.class, () -> blob.at(1));
      assertThrows(TooOld.class, () -> blob.at(2));
      assertEquals("SECst", new String(third.read(0, 5), UTF_8));
    }
  }

  @Test
  void anExceptionOfAVisitorIsItsOwn() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, text("x"));
      BlobSnapshot snapshot = blob.snapshot();
      var thrown =
          assertThrows(
              IllegalStateException.class,
              () ->
                  snapshot.history(
                      0,
                      9,
                      extent -> {
                        throw new IllegalStateException("mine");
                      }));
      assertEquals("mine", thrown.getMessage());
    }
  }

  @Test
  void snapshotsOfABlobAreBounded() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, text("x"));
      for (int i = 0; i < 64; i++) blob.snapshot();
      assertThrows(LimitExceeded.class, blob::snapshot);
      blob.snapshots().getFirst().release();
      assertEquals(1, blob.snapshot().version());
      assertTrue(stoa.delete(blob));
    }
  }

  // ---- the verbs of a store

  @Test
  void comesToBeWithTheFirstWrite() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      assertEquals(0, blob.size());
      assertEquals(0, blob.version());
      assertEquals("\0\0", read(blob, 0, 2));
      assertEquals(List.of(), blob.history());
      assertTrue(stoa.find(Blob.class, "a").isEmpty());
      assertFalse(stoa.delete(blob));
      blob.write(0, text("x"));
      assertEquals("x", read(stoa.find(Blob.class, "a").orElseThrow(), 0, 1));
    }
  }

  @Test
  void isCreatedOnce() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.create(Blob.class, 7L);
      assertEquals(0, blob.size());
      assertThrows(AlreadyExists.class, () -> stoa.create(Blob.class, 7L));
      assertEquals(1, blob.write(0, text("x")));
      assertThrows(AlreadyExists.class, () -> stoa.create(Blob.class, 7L));
      assertThrows(IllegalArgumentException.class, () -> stoa.get(Blob.class, "a", "b"));
      assertThrows(NotShareable.class, () -> stoa.get(Blob.class, new Object()));
    }
  }

  @Test
  void areListedInTheOrderOfTheirCreation() {
    try (Stoa stoa = memory()) {
      for (String key : List.of("c", "a", "b")) stoa.get(Blob.class, key).write(0, text(key));
      assertTrue(stoa.delete(stoa.get(Blob.class, "a")));
      try (var listing = stoa.list(Blob.class)) {
        assertEquals(List.of("c", "b"), listing.stream().map(blob -> read(blob, 0, 1)).toList());
      }
    }
  }

  @Test
  void aDeletedBlobIsGoneAndANewOneIsEmpty() {
    try (Stoa stoa = memory()) {
      Blob old = stoa.get(Blob.class, "a");
      old.write(0, text("old"));
      BlobSnapshot snapshot = old.snapshot();
      BlobWrite open = old.begin();
      open.write(0, text("late"));
      Blob found = stoa.find(Blob.class, "a").orElseThrow();
      assertTrue(stoa.delete(old));
      assertFalse(stoa.delete(old));
      assertThrows(Gone.class, () -> old.read(0, 3));
      assertThrows(Gone.class, () -> old.write(0, text("x")));
      assertThrows(Gone.class, found::size);
      assertThrows(Gone.class, old::begin);
      assertThrows(Gone.class, old::snapshots);
      assertThrows(Gone.class, () -> snapshot.read(0, 3));
      assertThrows(Gone.class, open::commit);
      var failed =
          assertThrows(
              CompletionException.class,
              () -> old.writeAsync(0, ByteBuffer.wrap(text("x"))).join());
      assertInstanceOf(Gone.class, failed.getCause());
      Blob renewed = stoa.get(Blob.class, "a");
      assertEquals(0, renewed.size());
      assertEquals(1, renewed.write(1, text("new")));
      assertEquals("\0new", read(renewed, 0, 4));
      assertThrows(Gone.class, () -> old.write(0, text("x")));
      assertThrows(Gone.class, old::version);
      assertEquals(List.of(), renewed.snapshots());
    }
  }

  @Test
  void aBlobWithoutAVersionIsDeletedToo() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.create(Blob.class, "a");
      BlobWrite open = blob.begin();
      open.write(0, text("late"));
      assertTrue(stoa.delete(blob));
      assertThrows(Gone.class, open::commit);
      assertThrows(Gone.class, blob::size);
      assertTrue(stoa.find(Blob.class, "a").isEmpty());
    }
  }

  @Test
  void hasItsOwnFormsOfHistoryAndAsynchrony() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      assertThrows(UnsupportedOperationException.class, () -> stoa.history(blob));
      assertThrows(
          UnsupportedOperationException.class, () -> stoa.async(blob, b -> b.write(0, text("x"))));
      Ref<Blob> ref = stoa.ref(blob);
      assertEquals(new Ref<Blob>("stoa.Blob", "a"), ref);
      Blob viewed = stoa.view(Blob.class, ref, new View.Remote());
      viewed.write(0, text("x"));
      assertEquals("x", read(blob, 0, 1));
      assertThrows(
          UnsupportedOperationException.class,
          () -> stoa.view(Blob.class, ref, new View.AtVersion(1)));
      assertThrows(
          IllegalArgumentException.class,
          () -> stoa.view(Blob.class, new Ref<>("other", "a"), new View.Remote()));
    }
  }

  @Test
  void isEqualByReference() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      assertEquals(blob, stoa.get(Blob.class, "a"));
      assertEquals(blob.hashCode(), stoa.get(Blob.class, "a").hashCode());
      assertNotEquals(blob, stoa.get(Blob.class, "b"));
      assertNotEquals(blob, stoa.get(Library.class, "a"));
      assertNotEquals(stoa.get(Library.class, "a"), blob);
      assertEquals("stoa.Blob[a]", blob.toString());
    }
  }

  // ---- in other objects

  @Shared(name = "blobs.Library")
  static class Library {
    private final Map<String, Blob> films = new LinkedHashMap<>();
    private final List<Object> anything = new ArrayList<>();
    private @Nullable Blob last;

    public void add(String title, Blob film) {
      films.put(title, film);
      anything.add(film);
      last = film;
    }

    public Blob begin(String title) {
      Blob film = Call.get(Blob.class, "begun " + title);
      films.put(title, film);
      return film;
    }

    @Accessor
    public Blob film(String title) {
      return Objects.requireNonNull(films.get(title));
    }

    @Accessor
    public List<Blob> all() {
      return List.copyOf(films.values());
    }

    @Accessor
    public boolean isLast(Blob film) {
      return film.equals(last) && anything.contains(film);
    }

    public long ask(Measure measure) {
      return measure.of(last);
    }
  }

  /// An interface that only the configuration names: the check of the bytecode does not see it.
  interface Measure {
    long of(@Nullable Blob blob);
  }

  record Size() implements Measure {
    @Override
    public long of(@Nullable Blob blob) {
      return blob == null ? 0 : blob.size();
    }
  }

  @Shared(name = "blobs.Reader")
  static class Reader {
    public long size(Blob blob) {
      return blob.size();
    }
  }

  @Shared(name = "stoa.Blob")
  static class Impostor {
    public void call() {}
  }

  @Test
  void travelsAsAReference() {
    try (Stoa stoa = file()) {
      Library library = stoa.get(Library.class, "films");
      Blob film = stoa.get(Blob.class, "films/42");
      film.write(0, text("frames"));
      library.add("the film", film);
      Blob found = library.film("the film");
      assertEquals(film, found);
      assertTrue(library.isLast(film));
      found.write(6, text("!"));
      assertEquals("frames!", read(film, 0, 7));
      library.begin("another").write(0, text("another"));
      assertEquals("another", read(stoa.get(Blob.class, "begun another"), 0, 7));
    }
    try (Stoa stoa = file()) {
      Library library = stoa.get(Library.class, "films");
      assertEquals(
          List.of("frames!", "another"),
          library.all().stream().map(film -> read(film, 0, 7)).toList());
      assertTrue(stoa.delete(stoa.get(Blob.class, "films/42")));
      assertThrows(Gone.class, () -> library.film("the film").read(0, 1));
      assertThrows(Gone.class, () -> library.film("the film").write(0, text("x")));
    }
  }

  @Test
  void isNotReadOrWrittenInsideAMethod() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, text("x"));
      var refused = assertThrows(NotShareable.class, () -> stoa.get(Reader.class, "r"));
      says(refused, "blobs");
      var impostor = assertThrows(NotShareable.class, () -> stoa.get(Impostor.class, "r"));
      says(impostor, "another name");
    }
    var config = StoaConfig.of("memory:").withTypes(List.of(Size.class));
    try (Stoa stoa = open(config)) {
      Library library = stoa.get(Library.class, "films");
      library.add("the film", stoa.get(Blob.class, "a"));
      var refused = assertThrows(IllegalStateException.class, () -> library.ask(new Size()));
      says(refused, "not logged with the call");
    }
  }

  @Test
  void cannotBePassedToAnotherStore() {
    try (Stoa stoa = memory();
        Stoa other = memory()) {
      Blob blob = stoa.get(Blob.class, "a");
      Library library = other.get(Library.class, "films");
      assertThrows(NotShareable.class, () -> library.add("x", blob));
      assertThrows(NotShareable.class, () -> other.delete(blob));
      assertThrows(NotShareable.class, () -> other.ref(blob));
      assertThrows(NotShareable.class, () -> other.store().put("x", blob));
    }
  }

  // ---- many callers

  @Test
  void writesOfManyCallersAreAllThere() throws Exception {
    int callers = 8;
    int writes = 60;
    try (Stoa stoa = file();
        var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
      Blob blob = stoa.get(Blob.class, "shared");
      var tasks = new ArrayList<Callable<List<Long>>>();
      for (int caller = 0; caller < callers; caller++) {
        byte[] mark = {(byte) ('a' + caller)};
        int at = caller;
        tasks.add(() -> {
          var versions = new ArrayList<Long>();
          for (int i = 0; i < writes; i++) {
            versions.add(blob.write((long) i * callers + at, mark));
            assertTrue(blob.version() >= versions.getLast());
          }
          return versions;
        });
      }
      var all = new ArrayList<Long>();
      for (var future : threads.invokeAll(tasks)) {
        List<Long> versions = future.get();
        assertEquals(versions.stream().sorted().toList(), versions);
        all.addAll(versions);
      }
      assertEquals(
          IntStream.rangeClosed(1, callers * writes).mapToObj(i -> (long) i).toList(),
          all.stream().sorted().toList());
      assertEquals("abcdefgh".repeat(writes), read(blob, 0, callers * writes));
    }
  }

  @Test
  void readersSeeWholeVersionsWhileCallersWrite() throws Exception {
    int length = 20_000;
    try (Stoa stoa = memory();
        var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
      Blob blob = stoa.get(Blob.class, "shared");
      var writers = new ArrayList<Callable<Long>>();
      for (int writer = 1; writer <= 4; writer++) {
        byte mark = (byte) writer;
        writers.add(() -> {
          byte[] bytes = new byte[length / 2];
          Arrays.fill(bytes, mark);
          long version = 0;
          for (int i = 0; i < 50; i++) {
            try (BlobWrite write = blob.begin()) {
              write.write(length / 2, bytes);
              write.write(0, bytes);
              version = write.commit();
            }
          }
          return version;
        });
      }
      Callable<Long> reader =
          () -> {
            long before = 0;
            while (before < 200) {
              long version = blob.version();
              assertTrue(version >= before, "versions do not go back");
              before = version;
              byte[] seen = blob.read(0, length);
              for (byte one : seen) assertEquals(seen[0], one);
            }
            return before;
          };
      writers.add(reader);
      writers.add(reader);
      long highest = 0;
      for (var future : threads.invokeAll(writers)) highest = Math.max(highest, future.get());
      assertEquals(200, highest);
    }
  }

  @Test
  void asynchronousWritesOfOneThreadGetTheirVersionsInOrder() {
    try (Stoa stoa = file()) {
      Blob blob = stoa.get(Blob.class, "pipe");
      var futures = new ArrayList<CompletableFuture<Long>>();
      for (int i = 0; i < 300; i++) {
        futures.add(blob.writeAsync(i % 10, ByteBuffer.wrap(new byte[] {(byte) i})));
      }
      for (int i = 0; i < futures.size(); i++) assertEquals(i + 1L, futures.get(i).join());
      byte[] last = new byte[10];
      for (int i = 290; i < 300; i++) last[i - 290] = (byte) i;
      assertArrayEquals(last, blob.readAsync(0, 10).join());
    }
  }

  @Test
  void asynchronousWritesKeepTheirOrderWhateverTheirSizes() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "pipe");
      var futures = new ArrayList<CompletableFuture<Long>>();
      for (int i = 0; i < 8; i++) {
        byte[] bytes = new byte[i % 2 == 0 ? 2_500_000 : 1];
        Arrays.fill(bytes, (byte) i);
        futures.add(blob.writeAsync(0, ByteBuffer.wrap(bytes)));
      }
      for (int i = 0; i < futures.size(); i++) assertEquals(i + 1L, futures.get(i).join());
      assertArrayEquals(new byte[] {7, 6}, blob.read(0, 2));
      assertArrayEquals(new byte[] {6, 0}, blob.read(2_499_999, 2));
    }
  }

  @Test
  void whereRangesOfAWriteOverlapTheOneBegunLastCounts() {
    try (Stoa stoa = file()) {
      Blob blob = stoa.get(Blob.class, "a");
      var expected = new byte[12];
      var futures = new ArrayList<CompletableFuture<Void>>();
      try (BlobWrite write = blob.begin()) {
        for (int i = 1; i <= 100; i++) {
          int at = i * 7 % 10;
          byte[] bytes = {(byte) i, (byte) i, (byte) i};
          System.arraycopy(bytes, 0, expected, at, bytes.length);
          futures.add(write.writeAsync(at, ByteBuffer.wrap(bytes)));
        }
        assertEquals(1, write.commit());
      }
      futures.forEach(CompletableFuture::join);
      assertArrayEquals(expected, blob.read(0, expected.length));
    }
  }

  @Test
  void deletingAmongWritersLeavesGoneOrANewBlob() throws Exception {
    try (Stoa stoa = file();
        var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
      var tasks = new ArrayList<Callable<Integer>>();
      for (int writer = 0; writer < 4; writer++) {
        tasks.add(() -> {
          int gone = 0;
          for (int i = 0; i < 40; i++) {
            Blob blob = stoa.get(Blob.class, "contended");
            try {
              long first = blob.write(0, text("ab"));
              long second = blob.write(1, text("b"));
              assertTrue(second > first);
              assertEquals("ab", read(blob, 0, 2));
            } catch (Gone deleted) {
              gone++;
            }
          }
          return gone;
        });
      }
      tasks.add(() -> {
        for (int i = 0; i < 25; i++) stoa.delete(stoa.get(Blob.class, "contended"));
        return 0;
      });
      for (var future : threads.invokeAll(tasks)) assertTrue(future.get() >= 0);
      Blob blob = stoa.get(Blob.class, "contended");
      blob.write(0, text("ab"));
      assertEquals("ab\0", read(blob, 0, 3));
    }
  }

  // ---- durability and limits

  @Test
  void isThereAfterTheStoreWasClosed() {
    byte[] large = new byte[5 << 20];
    new SplittableRandom(3).nextBytes(large);
    try (Stoa stoa = file()) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, text("first"));
      blob.snapshot();
      blob.write(100, large);
      blob.attribute("type", text("film"));
      Blob dead = stoa.get(Blob.class, "dead");
      dead.write(0, text("dead"));
      assertTrue(stoa.delete(dead));
    }
    try (Stoa stoa = file()) {
      Blob blob = stoa.find(Blob.class, "a").orElseThrow();
      assertEquals("first", read(blob, 0, 5));
      assertArrayEquals(large, blob.read(100, large.length));
      assertArrayEquals(text("film"), blob.attribute("type").orElseThrow());
      assertEquals(100L + large.length, blob.size());
      assertEquals("first\0", new String(blob.at(1).read(0, 6), UTF_8));
      assertEquals(1, blob.at(1).history().size());
      assertEquals(4, blob.truncate(0));
      assertTrue(stoa.find(Blob.class, "dead").isEmpty());
      assertEquals(1, stoa.get(Blob.class, "dead").write(3, text("x")));
      assertEquals("\0\0\0x", read(stoa.get(Blob.class, "dead"), 0, 4));
    }
  }

  @Test
  void aClosedStoreRefuses() {
    Stoa stoa = memory();
    Blob blob = stoa.get(Blob.class, "a");
    blob.write(0, text("x"));
    BlobWrite open = blob.begin();
    stoa.close();
    assertThrows(Closed.class, () -> blob.read(0, 1));
    assertThrows(Closed.class, () -> blob.write(0, text("x")));
    assertThrows(Closed.class, blob::begin);
    assertThrows(Closed.class, open::commit);
    assertThrows(Closed.class, () -> stoa.delete(blob));
    var failed =
        assertThrows(
            CompletionException.class, () -> blob.writeAsync(0, ByteBuffer.wrap(text("x"))).join());
    assertInstanceOf(Closed.class, failed.getCause());
    failed = assertThrows(CompletionException.class, () -> blob.readAsync(0, 1).join());
    assertInstanceOf(Closed.class, failed.getCause());
    open.close();
  }

  @Test
  void oneReadOrWriteIsBounded() throws IOException {
    var limits = Limits.standard().withBlobBytesMax(1_000);
    try (Stoa stoa = open(StoaConfig.of("memory:").withLimits(limits))) {
      Blob blob = stoa.get(Blob.class, "a");
      var refused = assertThrows(LimitExceeded.class, () -> blob.write(0, new byte[1_001]));
      says(refused, "blobBytesMax is 1000");
      assertThrows(LimitExceeded.class, () -> blob.read(0, 1_001));
      assertThrows(LimitExceeded.class, () -> blob.read(0, ByteBuffer.allocate(1_001)));
      assertThrows(LimitExceeded.class, () -> blob.readAsync(0, 1_001));
      assertEquals(1, blob.write(0, new byte[1_000]));
      assertEquals(2, blob.copyFrom(new ByteArrayInputStream(new byte[5_500])));
      assertEquals(5_500, blob.size());
      assertEquals(5_500, blob.copyTo(new ByteArrayOutputStream()));
    }
  }

  @Test
  void aFullStoreRefusesAndGoesOn() {
    var limits = Limits.standard().withMemoryBytesMax(8 << 20);
    try (Stoa stoa = open(StoaConfig.of("memory:").withLimits(limits))) {
      Blob blob = stoa.get(Blob.class, "a");
      blob.write(0, text("kept"));
      for (int i = 0; i < 20; i++)
        blob.write(10, new byte[1 << 20]); // what is overwritten makes room
      assertThrows(
          Unavailable.class,
          () -> {
            for (long at = 10; ; at += 1 << 20) blob.write(at, new byte[1 << 20]);
          });
      assertEquals("kept", read(blob, 0, 4));
      long version = blob.version();
      blob.truncate(10); // what is cut off makes room
      assertTrue(blob.write(0, text("KEPT")) > version);
      blob.write(10, new byte[1 << 20]);
      assertEquals("KEPT", read(blob, 0, 4));
    }
  }

  @Test
  void callersMayChooseTheVersions() {
    try (Stoa stoa = memory()) {
      Blob blob = stoa.get(Blob.class, "chosen");
      assertEquals(BlobVersions.NONE, blob.versions());
      blob.write(3, 0, text("ccc"));
      blob.write(1, 1, text("aaaa")); // late: what has version 3 keeps it
      blob.write(3, 0, text("x")); // again: changes nothing
      assertEquals("cccaa", read(blob, 0, 5));
      assertEquals("1, 3", blob.versions().toString());
      assertEquals("2", blob.versions().missing().toString());
      assertEquals(
          List.of(
              new BlobExtent(0, 3, 3, BlobExtent.Content.DATA),
              new BlobExtent(3, 2, 1, BlobExtent.Content.DATA)),
          blob.history());
      assertEquals(4, blob.write(5, text("n"))); // the next one
      try (BlobWrite write = blob.begin(2)) {
        write.truncate(4);
        write.attribute("of", text("2"));
        assertEquals(2, write.commit());
      }
      assertEquals("ccca\0n", read(blob, 0, 6));
      blob.skip(BlobVersions.of(6, 9));
      blob.write(7, 0, text("zzz")); // counts as written
      assertEquals("1-4, 6-9", blob.versions().toString());
      assertEquals("ccca\0n", read(blob, 0, 6));
      assertEquals(9, blob.version());
      assertEquals(10, blob.attribute("of", text("10")));
      assertThrows(IllegalArgumentException.class, () -> blob.begin(0));
      assertThrows(IllegalArgumentException.class, () -> blob.begin(Long.MAX_VALUE));
    }
  }

  @Test
  void blobsThatGotWritesInAnyOrderAreBroughtUpToDateByTheirVersions() {
    try (Stoa stoa = memory()) {
      var random = new SplittableRandom(7);
      Blob one = stoa.get(Blob.class, "one");
      Blob other = stoa.get(Blob.class, "other");
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++) {
          long version = 8L * round + 8 - i;
          long offset = random.nextInt(60);
          byte[] bytes = text(("" + version).repeat(1 + random.nextInt(12)));
          boolean cuts = random.nextInt(4) == 0;
          for (Blob blob : List.of(one, other)) {
            if (random.nextInt(3) == 0) continue; // this one does not get it
            try (BlobWrite write = blob.begin(version)) {
              if (cuts) write.truncate(offset / 2);
              write.write(offset, bytes);
              var _ = write.commit();
            }
          }
        }
        BlobVersions lacking = one.versions().minus(other.versions());
        assertEquals(lacking, other.copyMissing(one));
        var _ = one.copyMissing(other);
        assertEquals(one.versions(), other.versions());
        assertEquals(one.history(), other.history());
        assertArrayEquals(one.read(0, 100), other.read(0, 100));
        assertEquals(BlobVersions.NONE, one.copyMissing(other));
        assertEquals(List.of(), one.snapshots());
      }
      assertThrows(
          IllegalStateException.class, () -> one.copyMissing(stoa.get(Blob.class, "empty")));
    }
  }
}
