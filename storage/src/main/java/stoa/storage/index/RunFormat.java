package stoa.storage.index;

import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.RecordFormat;

/// The places of the fields in a run's blocks; the tables are in the package's text.
public final class RunFormat {
  static final int VERSION = 2;
  static final long MAGIC = 0x53544f4152554e53L; // STOARUNS

  public static final int BLOCK = 4096;
  static final int BLOCK_HEADER = 16;

  /// Blocks of a run beside its leaves, when these are few: header, filter, fences, footer.
  static final int BLOCKS_LEAST = 4;

  static final int LEAF = 1;
  static final int FENCE = 2;
  static final int FILTER = 3;
  static final int HEADER = 4;
  static final int FOOTER = 5;

  /// The most bytes of one entry of a record space in a leaf, in either form.
  static final int ENTRY_MAX = 1 + 17 + 9 + 10 + 5;

  /// The most bytes of one entry of a versioned space in a leaf, in either form.
  static final int VERSIONED_ENTRY_MAX = 1 + 17 + 9 + 1 + 10 + 9 + 5 + 10;

  static final int FLAGS_MARK = 3;
  static final int FLAG_SKIP = 4;
  static final int FLAG_SAME_VERSION = 8;

  /// The distance of entries with the full form in a leaf; the end of the block has their places.
  static final int RESTART_ENTRIES = 32;

  /// The end of a leaf's restarts, where their number begins.
  static final int RESTARTS_END = BLOCK - 2;

  static final int FENCES = 24; // the place of the first fence in a fence block
  static final int FENCE_ENTRY = 29;
  static final int FANOUT = (BLOCK - FENCES) / FENCE_ENTRY;

  static final int FILTER_BITS = (BLOCK - BLOCK_HEADER) * 8;
  static final int FILTER_KEYS =
      FILTER_BITS / 10; // ten bits a key: one answer in a hundred is wrong
  static final int FILTER_PROBES = 7;

  private static final Pattern NAME = Pattern.compile("run-(\\d{8})");

  private RunFormat() {}

  /// Returns the name of the file of a run.
  public static String name(int number) {
    return "run-%08d".formatted(number);
  }

  /// Returns whether a file is a run.
  public static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  static int number(String name) {
    return Integer.parseInt(name.substring("run-".length()));
  }

  /// Completes the block at `at` with its header and checksum.
  static void seal(
      CRC32C crc, byte[] bytes, int at, int type, int level, int count, int run, int block) {
    bytes[at + 4] = (byte) type;
    bytes[at + 5] = (byte) level;
    EncodedNumbers.putShort(bytes, at + 6, count);
    EncodedNumbers.putInt(bytes, at + 8, run);
    EncodedNumbers.putInt(bytes, at + 12, block);
    EncodedNumbers.putInt(bytes, at, RecordFormat.checksum(crc, bytes, at + 4, BLOCK - 4));
  }

  /// Returns whether the block at `at` is undamaged and the right one.
  static boolean isBlock(CRC32C crc, byte[] bytes, int at, int run, int block) {
    return EncodedNumbers.getInt(bytes, at + 8) == run
        && EncodedNumbers.getInt(bytes, at + 12) == block
        && EncodedNumbers.getInt(bytes, at) == RecordFormat.checksum(crc, bytes, at + 4, BLOCK - 4);
  }

  static int type(byte[] bytes, int at) {
    return bytes[at + 4];
  }

  static int count(byte[] bytes, int at) {
    return EncodedNumbers.getShort(bytes, at + 6);
  }

  /// Returns which of `blocks` filter blocks a series belongs to.
  static int filterBlock(long hash, int blocks) {
    return (int) (((hash >>> 32) * blocks) >>> 32);
  }

  static void addToFilter(byte[] bytes, int at, long hash) {
    int step = filterStep(hash);
    int bit = filterStart(hash);
    for (int i = 0; i < FILTER_PROBES; i++) {
      bytes[at + BLOCK_HEADER + (bit >>> 3)] |= (byte) (1 << (bit & 7));
      bit = next(bit, step);
    }
  }

  static boolean mayHold(byte[] bytes, long hash) {
    int step = filterStep(hash);
    int bit = filterStart(hash);
    for (int i = 0; i < FILTER_PROBES; i++) {
      if ((bytes[BLOCK_HEADER + (bit >>> 3)] & 1 << (bit & 7)) == 0) return false;
      bit = next(bit, step);
    }
    return true;
  }

  private static int next(int bit, int step) {
    int sum = bit + step;
    return sum < FILTER_BITS ? sum : sum - FILTER_BITS;
  }

  private static int filterStart(long hash) {
    return (int) (((hash & 0xffffffffL) * FILTER_BITS) >>> 32);
  }

  private static int filterStep(long hash) {
    return 1 + (int) ((((hash * 0x94d049bb133111ebL) >>> 32) * (FILTER_BITS - 1)) >>> 32);
  }
}
