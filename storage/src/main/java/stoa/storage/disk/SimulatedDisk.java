package stoa.storage.disk;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A disk in memory that loses power and fails on request, for simulations: no worse and hardly
/// better than the contract of [Disk] and [DiskFile] allows. The same seed and the same operations
/// give the same disk.
///
/// Thread-safe; for determinism one thread uses it at a time.
public final class SimulatedDisk implements Disk {
  /*
   * Readers see a file's bytes. Beside them the file remembers, for each sector written since the
   * last sync, the sector's bytes at that sync, and the length of the file. A power loss goes
   * through these sectors and keeps the written bytes or restores the old ones. Names work alike:
   * the directory as of its last sync, and the changes since.
   *
   * A failed sync leaves its sectors in `limbo`: no later sync covers them, unless they are written
   * again.
   */
  private static final int SECTOR = 512;

  private final SplittableRandom random;
  private final TreeMap<String, Content> names = new TreeMap<>();
  private final TreeMap<String, Content> durableNames = new TreeMap<>();
  private final List<Consumer<TreeMap<String, Content>>> nameChanges = new ArrayList<>();
  private ByteBuffer notes = ByteBuffer.allocate(0);
  private boolean held;
  private boolean powerLost;
  private long bytesMax = Long.MAX_VALUE;
  private int changes;
  private int powerLossAt = -1;
  private int writes;
  private int failingWrite = -1;
  private int syncs;
  private int failingSync = -1;
  private boolean shortReads;
  private boolean tearing;
  private boolean protectedCache;

  /// Creates an empty disk.
  ///
  /// @param seed determines all random choices
  public SimulatedDisk(long seed) {
    random = new SplittableRandom(seed);
  }

  /// Cuts the power and returns the disk after it. Synced bytes are there. Of each file, the later
  /// writes are lost, kept or torn, sector by sector and in any order; changes of names since the
  /// last [#syncDirectory()] each happened or not. Every later operation on this object fails.
  public synchronized SimulatedDisk crash() {
    powerLost = true;
    var after = new SimulatedDisk(random.nextLong());
    after.protectedCache = protectedCache;
    var surviving = new TreeMap<>(durableNames);
    int fate = random.nextInt(4);
    int cut = random.nextInt(nameChanges.size() + 1);
    for (int i = 0; i < nameChanges.size(); i++) {
      if (survives(random, fate, i, cut)) nameChanges.get(i).accept(surviving);
    }
    surviving.forEach((name, content) -> after.names.put(name, content.afterPowerLoss(random)));
    after.durableNames.putAll(after.names);
    return after;
  }

  /// Ends the process that uses the disk, not the power, and returns the disk for the next process:
  /// all written bytes are there, and those that were not durable still are not. Every later
  /// operation on this object fails.
  public synchronized SimulatedDisk kill() {
    powerLost = true;
    var after = new SimulatedDisk(random.nextLong());
    after.protectedCache = protectedCache;
    after.names.putAll(names);
    after.durableNames.putAll(durableNames);
    after.nameChanges.addAll(nameChanges);
    after.notes = ByteBuffer.wrap(notes.array().clone());
    return after;
  }

  /// Returns another disk with the same bytes, all of them durable.
  public synchronized SimulatedDisk copy() {
    var copy = new SimulatedDisk(random.nextLong());
    names.forEach((name, content) -> copy.names.put(name, content.copy()));
    copy.durableNames.putAll(copy.names);
    return copy;
  }

  /// Decides whether an unsynced change survives. There are four fates: all kept, all lost, kept up
  /// to a cut, each by itself.
  private static boolean survives(SplittableRandom random, int fate, int index, int cut) {
    return switch (fate) {
      case 0 -> true;
      case 1 -> false;
      case 2 -> index < cut;
      default -> random.nextBoolean();
    };
  }

  /// Cuts the power during a later change: a write, a reservation, a sync or a change of names. The
  /// disk does half of that change, and then every operation fails. [#crash()] returns the disk as
  /// it is after the power is back.
  ///
  /// @param changesFromNow the number of changes before it
  public synchronized void losePowerAfter(int changesFromNow) {
    powerLossAt = changes + changesFromNow;
  }

  /// Returns the number of changes so far.
  public synchronized int changes() {
    return changes;
  }

  /// Makes a write fail with an [IOException], half done.
  ///
  /// @param writesFromNow 0 for the next one
  public synchronized void failWrite(int writesFromNow) {
    failingWrite = writes + writesFromNow;
  }

  /// Makes a sync of a file fail with an [IOException]; the bytes that it should have made durable
  /// never become so.
  ///
  /// @param syncsFromNow 0 for the next one
  public synchronized void failSync(int syncsFromNow) {
    failingSync = syncs + syncsFromNow;
  }

  /// Bounds the disk: it refuses changes beyond the bound with [DiskFull].
  public synchronized void limit(long newBytesMax) {
    bytesMax = newBytesMax;
  }

  @Override
  public synchronized long room() {
    return bytesMax == Long.MAX_VALUE ? bytesMax : bytesMax - bytes();
  }

  /// Makes a write that meets the bound write as much as there is room for before it fails.
  public synchronized void tearWhenFull() {
    tearing = true;
  }

  /// Lets reads return fewer bytes than requested, at random.
  public synchronized void readShort() {
    shortReads = true;
  }

  /// Gives the disk a cache that survives a power loss, and direct I/O: from now on bytes written
  /// with [#openDirect] are durable once the write has returned, up to the length that the file had
  /// at its last sync.
  public synchronized void protectCache() {
    protectedCache = true;
  }

  /// Flips one bit of a file, durably.
  ///
  /// @param bit 0 to 7
  public synchronized void flip(String name, long position, int bit) throws IOException {
    var content = existing(names.get(name), name);
    content.bytes[(int) position] ^= (byte) (1 << bit);
    byte[] old = content.unsynced.get((int) (position / SECTOR));
    if (old != null) old[(int) (position % SECTOR)] ^= (byte) (1 << bit);
  }

  /// Cuts a file off, durably.
  public synchronized void cut(String name, long newSize) throws IOException {
    var content = existing(names.get(name), name);
    Arrays.fill(content.bytes, (int) newSize, content.size, (byte) 0);
    content.size = (int) newSize;
    content.durableSize = Math.min(content.durableSize, content.size);
  }

  /// Returns the used bytes.
  public synchronized long bytes() {
    long bytes = 0;
    for (var content : names.values()) bytes += content.size;
    return bytes;
  }

  @Override
  public synchronized List<String> list() throws IOException {
    ensurePower();
    return new ArrayList<>(names.keySet());
  }

  @Override
  public synchronized DiskFile create(String name) throws IOException {
    ensurePower();
    if (names.containsKey(name)) throw new FileAlreadyExistsException(name);
    if (bytes() >= bytesMax) throw full();
    var content = new Content();
    names.put(name, content);
    nameChanges.add(survivors -> survivors.put(name, content));
    countChange();
    return new Handle(name, content, DirectIo.OFF);
  }

  @Override
  public synchronized DiskFile open(String name) throws IOException {
    ensurePower();
    return new Handle(name, existing(names.get(name), name), DirectIo.OFF);
  }

  @Override
  public synchronized DiskFile openDirect(String name) throws IOException {
    if (!protectedCache) return Disk.super.openDirect(name);
    ensurePower();
    return new Handle(name, existing(names.get(name), name), DirectIo.ON);
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    ensurePower();
    existing(names.remove(name), name);
    nameChanges.add(survivors -> survivors.remove(name));
    countChange();
  }

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    ensurePower();
    var content = existing(names.remove(from), from);
    names.put(to, content);
    nameChanges.add(survivors -> {
      survivors.remove(from, content);
      survivors.put(to, content);
    });
    countChange();
  }

  @Override
  public synchronized void syncDirectory() throws IOException {
    ensurePower();
    countChange();
    durableNames.clear();
    durableNames.putAll(names);
    nameChanges.clear();
  }

  @Override
  public synchronized Hold hold() {
    if (held) {
      throw new AlreadyOpen("the simulated disk is in use by another device; close that one first");
    }
    held = true;
    var mine = new AtomicBoolean(true);
    return new Hold() {
      @Override
      public ByteBuffer notes(int bytes) {
        synchronized (SimulatedDisk.this) {
          if (notes.capacity() < bytes) notes = ByteBuffer.allocate(bytes);
          return notes;
        }
      }

      @Override
      public void close() {
        if (!mine.compareAndSet(true, false)) return;
        synchronized (SimulatedDisk.this) {
          held = false;
        }
      }
    };
  }

  @Override
  public String place() {
    return "simulated disk";
  }

  @Override
  public void close() {}

  private void ensurePower() throws IOException {
    if (powerLost) throw new IOException("the simulated disk lost power");
  }

  private void countChange() throws IOException {
    if (changes++ == powerLossAt) {
      powerLost = true;
      ensurePower();
    }
  }

  private DiskFull full() {
    return new DiskFull(
        "the simulated disk of " + bytesMax + " bytes is full; give it a greater limit");
  }

  private static Content existing(@Nullable Content content, String name) throws IOException {
    if (content == null) throw new FileNotFoundException(name);
    return content;
  }

  /// The bytes of a file, whatever its name.
  private static final class Content {
    private byte[] bytes = new byte[4 * SECTOR];
    private int size;
    private int durableSize;
    private final TreeMap<Integer, byte[]> unsynced = new TreeMap<>();
    private final TreeMap<Integer, byte[]> limbo = new TreeMap<>();

    void write(int position, ByteBuffer source) {
      int end = position + source.remaining();
      if (end == position) return;
      if (end > bytes.length) {
        int room = Math.max(end, 2 * bytes.length);
        bytes = Arrays.copyOf(bytes, (room + SECTOR - 1) / SECTOR * SECTOR);
      }
      for (int sector = position / SECTOR; sector <= (end - 1) / SECTOR; sector++) {
        byte[] old = limbo.remove(sector);
        int at = sector * SECTOR;
        if (old == null) old = Arrays.copyOfRange(bytes, at, at + SECTOR);
        unsynced.putIfAbsent(sector, old);
      }
      source.get(bytes, position, end - position);
      size = Math.max(size, end);
    }

    void sync() {
      unsynced.clear();
      durableSize = size;
    }

    /// Makes whole sectors durable, where the file had its length at the last sync.
    void keep(int position, int length) {
      int end = Math.min(position + length, durableSize);
      if (position < end) unsynced.subMap(position / SECTOR, end / SECTOR).clear();
    }

    void failSync() {
      unsynced.forEach(limbo::putIfAbsent);
      unsynced.clear();
    }

    Content copy() {
      var copy = new Content();
      copy.bytes = bytes.clone();
      copy.size = size;
      copy.durableSize = size;
      return copy;
    }

    Content afterPowerLoss(SplittableRandom random) {
      var after = new Content();
      after.bytes = bytes.clone();
      var sectors = new TreeMap<>(limbo);
      sectors.putAll(unsynced);
      int fate = random.nextInt(4);
      int cut = random.nextInt(sectors.size() + 1);
      int index = 0;
      int lastKept = -1;
      for (var sector : sectors.entrySet()) {
        boolean kept = survives(random, fate, index, cut);
        if (kept) lastKept = sector.getKey();
        else System.arraycopy(sector.getValue(), 0, after.bytes, sector.getKey() * SECTOR, SECTOR);
        index++;
      }
      // The file keeps the size apart from the data, but the size covers the kept data.
      int least = Math.max(durableSize, Math.min(size, (lastKept + 1) * SECTOR));
      after.size = random.nextBoolean() ? least : least + random.nextInt(size - least + 1);
      if (fate == 0) after.size = size;
      Arrays.fill(after.bytes, after.size, after.bytes.length, (byte) 0);
      after.durableSize = after.size;
      return after;
    }
  }

  private final class Handle implements DiskFile {
    private final String name;
    private final Content content;
    private final DirectIo directIo;
    private boolean closed;

    Handle(String name, Content content, DirectIo directIo) {
      this.name = name;
      this.content = content;
      this.directIo = directIo;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long size() throws IOException {
      synchronized (SimulatedDisk.this) {
        ensureUsable();
        return content.size;
      }
    }

    @Override
    public void write(long position, ByteBuffer source) throws IOException {
      synchronized (SimulatedDisk.this) {
        ensureUsable();
        if (position > content.size) {
          throw new IOException(
              name + ": write at " + position + " leaves a gap at " + content.size);
        }
        if (directIo == DirectIo.ON && (position | source.remaining()) % DIRECT_ALIGNMENT != 0) {
          throw new IOException(
              "%s: %d bytes at %d are not aligned".formatted(name, source.remaining(), position));
        }
        if (tearing) tear(position, source);
        requireRoom(position + source.remaining());
        boolean failing = writes++ == failingWrite;
        boolean cutOff = changes == powerLossAt;
        if (failing || cutOff) {
          int part = random.nextInt(source.remaining() + 1);
          content.write((int) position, source.slice().limit(part));
          countChange();
          throw new IOException(name + ": simulated write error at " + position);
        }
        int length = source.remaining();
        content.write((int) position, source);
        countChange();
        if (directIo == DirectIo.ON) content.keep((int) position, length);
      }
    }

    private void tear(long position, ByteBuffer source) throws IOException {
      long free = bytesMax - bytes() + content.size - position;
      if (free <= 0 || free >= source.remaining()) return;
      content.write((int) position, source.slice().limit((int) free));
      countChange();
      throw new TornWrite(name, full());
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      synchronized (SimulatedDisk.this) {
        ensureUsable();
        requireRoom(to);
        if (to > content.size) {
          content.write(content.size, ByteBuffer.allocate((int) to - content.size));
        }
        countChange();
      }
    }

    @Override
    public void ensureRoom(long to) {
      synchronized (SimulatedDisk.this) {
        requireRoom(to);
      }
    }

    private void requireRoom(long end) {
      if (end > Integer.MAX_VALUE - SECTOR) throw full();
      if (bytes() + Math.max(0, end - content.size) > bytesMax) throw full();
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      synchronized (SimulatedDisk.this) {
        ensureUsable();
        int rest = (int) Math.max(0, content.size - position);
        int n = Math.min(rest, target.remaining());
        if (n == 0) return target.hasRemaining() ? -1 : 0;
        if (shortReads) n = 1 + random.nextInt(n);
        target.put(content.bytes, (int) position, n);
        return n;
      }
    }

    @Override
    public void sync() throws IOException {
      synchronized (SimulatedDisk.this) {
        ensureUsable();
        if (syncs++ == failingSync) {
          content.failSync();
          throw new IOException(name + ": simulated sync error");
        }
        countChange();
        content.sync();
      }
    }

    @Override
    public void close() {
      synchronized (SimulatedDisk.this) {
        closed = true;
      }
    }

    private void ensureUsable() throws IOException {
      ensurePower();
      if (closed) throw new ClosedChannelException();
    }
  }
}
