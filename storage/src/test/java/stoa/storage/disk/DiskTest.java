package stoa.storage.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.storage.segment.SegmentLog;

/// The contract of [Disk] and [DiskFile], over every implementation. `restart` is the worst that an
/// implementation can be put through: a power loss where that can be had, else new handles.
class DiskTest {
  @TempDir Path directory;

  enum Kind {
    FILE,
    MEMORY,
    SCRATCH,
    SIMULATED
  }

  private Disk disk = new MemoryDisk(1 << 16);
  private UnaryOperator<Disk> restart = UnaryOperator.identity();

  private void use(Kind kind) {
    switch (kind) {
      case FILE -> {
        disk = new FileDisk(directory);
        restart = before -> new FileDisk(directory);
      }
      case MEMORY -> disk = new MemoryDisk(64 << 20);
      case SCRATCH -> disk = new ScratchDisk(new MemoryDisk(64 << 20), 64 << 20);
      case SIMULATED -> {
        disk = new SimulatedDisk(7);
        restart = before -> ((SimulatedDisk) before).crash();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void whatWasSyncedIsThereAfterARestart(Kind kind) throws IOException {
    use(kind);
    var random = new SplittableRandom(1);
    var expected = new byte[300_000];
    random.nextBytes(expected);
    try (var file = disk.create("a")) {
      int at = 0;
      while (at < expected.length) {
        int n = Math.min(expected.length - at, 1 + random.nextInt(50_000));
        file.write(at, ByteBuffer.wrap(expected, at, n));
        at += n;
        assertEquals(at, file.size());
        assertArrayEquals(Arrays.copyOf(expected, at), content(file));
      }
      file.sync();
    }
    disk.syncDirectory();
    disk = restart.apply(disk);
    assertEquals(List.of("a"), disk.list());
    try (var file = disk.open("a")) {
      assertArrayEquals(expected, content(file));
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void writesFromAnyKindOfBuffer(Kind kind) throws IOException {
    use(kind);
    var direct = ByteBuffer.allocateDirect(5000);
    for (int i = 0; i < 5000; i++) direct.put(i, (byte) i);
    try (var file = disk.create("a")) {
      file.write(0, direct.slice(1000, 4000));
      var heap = ByteBuffer.allocate(10);
      heap.put(3, (byte) 77);
      file.write(4000, heap.position(3).limit(5));
      assertEquals(4002, file.size());
      var read = ByteBuffer.allocateDirect(6000);
      int n = 0;
      while (n < 4002) n += file.read(n, read);
      assertEquals((byte) 1000, read.get(0));
      assertEquals(77, read.get(4000));
      file.sync();
    }
    disk.syncDirectory();
    disk = restart.apply(disk);
    try (var file = disk.open("a")) {
      assertEquals(77, content(file)[4000]);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void whatWasReservedReadsAsZeroAndIsWrittenOver(Kind kind) throws IOException {
    use(kind);
    try (var file = disk.create("a")) {
      file.write(0, ByteBuffer.wrap(new byte[] {1, 2, 3}));
      file.reserve(3, 100_000);
      assertTrue(file.size() >= 3 && file.size() <= 100_000);
      var bytes = content(file);
      assertEquals(2, bytes[1]);
      for (int i = 3; i < bytes.length; i++) assertEquals(0, bytes[i]);
      file.write(3, ByteBuffer.wrap(new byte[] {4, 5}));
      file.sync();
    }
    disk.syncDirectory();
    disk = restart.apply(disk);
    try (var file = disk.open("a")) {
      assertArrayEquals(new byte[] {1, 2, 3, 4, 5}, Arrays.copyOf(content(file), 5));
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void readsNothingBehindTheEnd(Kind kind) throws IOException {
    use(kind);
    try (var file = disk.create("a")) {
      assertEquals(-1, file.read(0, ByteBuffer.allocate(1)));
      file.write(0, ByteBuffer.wrap(new byte[] {1, 2, 3}));
      assertEquals(-1, file.read(3, ByteBuffer.allocate(1)));
      assertEquals(-1, file.read(1000, ByteBuffer.allocate(1)));
      var two = ByteBuffer.allocate(10);
      assertEquals(2, file.read(1, two));
      assertEquals(2, two.position());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"MEMORY", "SIMULATED"})
  void refusesAGap(Kind kind) throws IOException {
    use(kind); // a file system allows it; the device never asks for it
    try (var file = disk.create("a")) {
      assertThrows(IOException.class, () -> file.write(1, ByteBuffer.allocate(1)));
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void listsCreatesAndDeletesByName(Kind kind) throws IOException {
    use(kind);
    assertEquals(List.of(), disk.list());
    disk.create("b").close();
    disk.create("a").close();
    assertEquals(List.of("a", "b"), disk.list());
    assertThrows(IOException.class, () -> disk.create("a"));
    assertThrows(IOException.class, () -> disk.open("c"));
    assertThrows(IOException.class, () -> disk.delete("c"));
    disk.delete("b");
    disk.syncDirectory();
    disk = restart.apply(disk);
    assertEquals(List.of("a"), disk.list());
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aRenameReplacesTheOtherFileAsAWhole(Kind kind) throws IOException {
    use(kind);
    for (int round = 1; round <= 20; round++) {
      try (var file = disk.create("new")) {
        file.write(0, ByteBuffer.wrap(new byte[] {(byte) round}));
        file.sync();
      }
      disk.syncDirectory();
      disk.rename("new", "a");
      disk = restart.apply(disk);
      boolean happened = !disk.list().contains("new");
      if (!happened) disk.delete("new");
      if (round == 1 && !happened) {
        assertFalse(disk.list().contains("a"));
        continue;
      }
      try (var file = disk.open("a")) {
        int found = content(file)[0];
        assertTrue(found == round || (!happened && found < round), found + " in round " + round);
      }
      disk.syncDirectory();
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void isHeldByOneOpenerAtATime(Kind kind) throws IOException {
    use(kind);
    try (var hold = disk.hold()) {
      var error = assertThrows(AlreadyOpen.class, () -> disk.hold());
      assertTrue(String.valueOf(error.getMessage()).contains("close"));
      assertTrue(hold != null);
    }
    var again = disk.hold();
    again.close();
    again.close();
    var third = disk.hold();
    again.close();
    assertThrows(AlreadyOpen.class, () -> disk.hold());
    third.close();
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aClosedFileIsNeitherReadNorWritten(Kind kind) throws IOException {
    use(kind);
    var file = disk.create("a");
    file.write(0, ByteBuffer.wrap(new byte[] {1}));
    file.close();
    file.close();
    assertThrows(IOException.class, () -> file.read(0, ByteBuffer.allocate(1)));
    assertThrows(IOException.class, () -> file.write(1, ByteBuffer.allocate(1)));
    assertThrows(IOException.class, () -> file.sync());
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void anInterruptedThreadReadsAndWritesAndStaysInterrupted(Kind kind) throws IOException {
    use(kind);
    try (var file = disk.create("a")) {
      Thread.currentThread().interrupt();
      file.write(0, ByteBuffer.wrap(new byte[] {1, 2}));
      assertTrue(Thread.currentThread().isInterrupted());
      assertArrayEquals(new byte[] {1, 2}, content(file));
      file.sync();
      assertTrue(Thread.interrupted());
      file.write(2, ByteBuffer.wrap(new byte[] {3}));
      assertArrayEquals(new byte[] {1, 2, 3}, content(file));
    }
  }

  @Test
  void interruptsInTheMiddleOfOperationsDoNoHarm() throws Exception {
    use(Kind.FILE);
    try (var file = disk.create("a")) {
      var worker = Thread.currentThread();
      var done = new java.util.concurrent.atomic.AtomicBoolean();
      var nuisance =
          new Thread(() -> {
            while (!done.get()) {
              worker.interrupt();
              Thread.onSpinWait();
            }
          });
      nuisance.start();
      for (int i = 0; i < 500; i++) {
        var bytes = new byte[4096];
        Arrays.fill(bytes, (byte) i);
        file.write(i * 4096L, ByteBuffer.wrap(bytes));
        if (i % 50 == 0) file.sync();
        var read = ByteBuffer.allocate(4096);
        assertEquals(4096, file.read(i * 4096L, read));
        assertArrayEquals(bytes, read.array());
      }
      done.set(true);
      boolean interrupted = Thread.interrupted();
      while (nuisance.isAlive()) interrupted |= Thread.interrupted();
      interrupted |= Thread.interrupted();
      assertTrue(interrupted);
      var all = content(file);
      for (int i = 0; i < all.length; i++) assertEquals((byte) (i / 4096), all[i]);
    }
  }

  @Test
  void aFullMemoryDiskRefusesAndGoesOnOnceThereIsRoom() throws IOException {
    var memory = new MemoryDisk(1 << 20);
    var file = memory.create("a");
    file.write(0, ByteBuffer.allocate(900_000));
    long before = memory.bytes();
    var error =
        assertThrows(DiskFull.class, () -> file.write(900_000, ByteBuffer.allocate(200_000)));
    assertTrue(String.valueOf(error.getMessage()).contains("1,048,576"));
    assertEquals(before, memory.bytes());
    assertEquals(900_000, file.size());
    file.close();
    memory.delete("a");
    assertEquals(0, memory.bytes());
    memory.create("b").write(0, ByteBuffer.allocate(1_000_000));
  }

  @Test
  void aSecondProcessIsRefused() throws Exception {
    use(Kind.FILE);
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var program =
        """
        import java.nio.channels.*; import java.nio.file.*;
        public class Lock { public static void main(String[] a) throws Exception {
          try (var c = FileChannel.open(Path.of(a[0]), StandardOpenOption.WRITE)) {
            System.exit(c.tryLock() == null ? 7 : 8);
          } } }
        """;
    var source = Files.writeString(directory.resolve("Lock.java"), program);
    try (var hold = disk.hold()) {
      assertTrue(hold != null);
      var process =
          new ProcessBuilder(java, source.toString(), directory.resolve("lock").toString())
              .inheritIO()
              .start();
      assertEquals(7, process.waitFor());
    }
  }

  @Test
  void isNotOpenedWhenItsLockWasDeletedUntilItIsMadeAgain() throws IOException {
    use(Kind.FILE);
    disk.create(DeviceFiles.MANIFEST).close();
    var refused = assertThrows(AlreadyOpen.class, () -> disk.hold());
    assertTrue(String.valueOf(refused.getMessage()).contains("make an empty file"));
    Files.createFile(directory.resolve("lock"));
    disk.hold().close();
  }

  @Test
  void itsHolderLocksItAnewWhenTheLockWasDeleted() throws IOException {
    use(Kind.FILE);
    try (var file = disk.create("a");
        var hold = disk.hold()) {
      assertTrue(hold != null);
      Files.delete(directory.resolve("lock"));
      while (!Files.exists(directory.resolve("lock"))) file.sync();
      assertThrows(AlreadyOpen.class, () -> new FileDisk(directory).hold());
    }
  }

  @Test
  void itsHolderWritesNoMoreWhenAnotherProcessHasTakenItsPlace() throws Exception {
    use(Kind.FILE);
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var program =
        """
        import java.nio.channels.*; import java.nio.file.*;
        public class Taker { public static void main(String[] a) throws Exception {
          try (var c = FileChannel.open(Path.of(a[0]), StandardOpenOption.WRITE)) {
            c.lock();
            System.out.println("taken");
            System.in.read();
          } } }
        """;
    var source = Files.writeString(directory.resolve("Taker.java"), program);
    var lock = directory.resolve("lock");
    try (var file = disk.create("a");
        var hold = disk.hold()) {
      assertTrue(hold != null);
      Files.delete(lock);
      Files.createFile(lock);
      var process = new ProcessBuilder(java, source.toString(), lock.toString()).start();
      try (var said = process.inputReader()) {
        assertEquals("taken", said.readLine());
        var ended =
            assertThrows(
                IOException.class,
                () -> {
                  while (true) file.sync();
                });
        assertTrue(String.valueOf(ended.getMessage()).contains("another process has opened it"));
      } finally {
        process.destroyForcibly();
      }
    }
  }

  @Test
  void isForItsOwnerAlone() throws IOException {
    assumeTrue(directory.getFileSystem().supportedFileAttributeViews().contains("posix"));
    Path outer = directory.resolve("one");
    Path own = outer.resolve("two");
    disk = new FileDisk(own);
    disk.create("a").close();
    disk.hold().close();
    assertEquals("rwx------", permissions(own));
    assertEquals("rwx------", permissions(outer));
    assertEquals("rw-------", permissions(own.resolve("a")));
    assertEquals("rw-------", permissions(own.resolve("lock")));
  }

  @Test
  void isReadByThoseWhoMayReadItsDirectory() throws IOException {
    assumeTrue(directory.getFileSystem().supportedFileAttributeViews().contains("posix"));
    Path shared = Files.createDirectory(directory.resolve("shared"));
    Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxr-x---"));
    disk = new FileDisk(shared);
    disk.create("a").close();
    assertEquals("rwxr-x---", permissions(shared));
    assertEquals("rw-r-----", permissions(shared.resolve("a")));
  }

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void thePowerLossesOfASeedAreAlwaysTheSame() throws IOException {
    assertArrayEquals(torn(5), torn(5));
    int different = 0;
    for (int seed = 0; seed < 20; seed++) {
      if (!Arrays.equals(torn(seed), torn(seed + 1))) different++;
    }
    assertTrue(different > 10);
  }

  @Test
  void aPowerLossLosesKeepsAndTearsSectorsButNeverWhatWasSynced() throws IOException {
    int lost = 0;
    int kept = 0;
    int tornTimes = 0;
    int reordered = 0;
    for (int seed = 0; seed < 200; seed++) {
      var bytes = torn(seed);
      for (int i = 0; i < 700; i++) assertEquals(1, bytes[i]);
      var sectors = new StringBuilder();
      for (int at = 1024; at < 10_000; at += 512) {
        sectors.append(at < bytes.length && bytes[at] == 2 ? 'k' : '-');
      }
      var picture = sectors.toString();
      if (!picture.contains("k")) lost++;
      else if (!picture.contains("-")) kept++;
      else tornTimes++;
      if (picture.contains("-k")) reordered++;
    }
    assertTrue(lost > 20 && kept > 20 && tornTimes > 20 && reordered > 20);
  }

  private static byte[] torn(int seed) throws IOException {
    var before = new SimulatedDisk(seed);
    try (var file = before.create("a")) {
      var ones = new byte[700];
      Arrays.fill(ones, (byte) 1);
      file.write(0, ByteBuffer.wrap(ones));
      file.sync();
      before.syncDirectory();
      var twos = new byte[9300];
      Arrays.fill(twos, (byte) 2);
      file.write(700, ByteBuffer.wrap(twos));
    }
    try (var file = before.crash().open("a")) {
      return content(file);
    }
  }

  @Test
  void aFailedSyncMakesNothingDurableEvenWhenRepeated() throws IOException {
    int lost = 0;
    for (int seed = 0; seed < 50; seed++) {
      var before = new SimulatedDisk(seed);
      try (var file = before.create("a")) {
        before.syncDirectory();
        file.write(0, ByteBuffer.wrap(new byte[] {1}));
        before.failSync(0);
        assertThrows(IOException.class, file::sync);
        file.sync();
      }
      try (var file = before.crash().open("a")) {
        if (content(file).length == 0 || content(file)[0] == 0) lost++;
      }
    }
    assertTrue(lost > 5);
  }

  private static byte[] content(DiskFile file) throws IOException {
    var bytes = new byte[(int) file.size()];
    assertTrue(SegmentLog.readFully(file, 0, bytes, 0, bytes.length));
    return bytes;
  }

  @Test
  void aScratchDiskReadsWhatIsUnderItAndLeavesItAsItIs() throws IOException {
    var under = new MemoryDisk(64 << 20);
    var random = new SplittableRandom(3);
    var before = new byte[200_001];
    random.nextBytes(before);
    for (String name : List.of("a", "b", "c")) {
      try (var file = under.create(name)) {
        file.write(0, ByteBuffer.wrap(before));
      }
    }
    disk = new ScratchDisk(under, 8 << 20);
    var expected = Arrays.copyOf(before, 400_000);
    var more = new byte[300_000];
    random.nextBytes(more);
    System.arraycopy(more, 0, expected, 100_000, more.length);
    try (var file = disk.open("a")) {
      assertArrayEquals(before, content(file));
      file.write(100_000, ByteBuffer.wrap(more));
      assertArrayEquals(expected, content(file));
    }
    disk.rename("a", "d");
    disk.delete("b");
    try (var file = disk.create("e")) {
      file.write(0, ByteBuffer.wrap(more));
    }
    assertEquals(List.of("c", "d", "e"), disk.list());
    try (var file = disk.open("d")) {
      assertArrayEquals(expected, content(file));
      assertThrows(DiskFull.class, () -> file.write(0, ByteBuffer.allocate(16 << 20)));
      assertArrayEquals(expected, content(file));
    }
    disk.close();
    assertEquals(List.of("a", "b", "c"), under.list());
    for (String name : under.list()) {
      try (var file = under.open(name)) {
        assertArrayEquals(before, content(file));
      }
    }
  }
}
