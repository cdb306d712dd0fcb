package stoa.store.records;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import stoa.base.StreamId;
import stoa.log.Streams;

/// The names that a directory lists, read a part at a time. One thread at a time uses it.
public final class DirectoryNames implements Iterator<byte[]> {
  private static final int SCAN_ENTRIES = 256;

  private final Streams streams;
  private final StreamId stream;
  private final long end;
  private final BitSet gone = new BitSet();
  private long next = 1;
  private Iterator<byte[]> part = List.<byte[]>of().iterator();

  /// Reads the names that a directory lists up to an address.
  public DirectoryNames(Streams streams, StreamId stream, long end) {
    this.streams = streams;
    this.stream = stream;
    this.end = end;
    streams.scan(
        stream,
        1,
        end,
        entry -> {
          if (entry.kind() == Records.UNLISTED) {
            gone.set(Math.toIntExact(Records.unlisted(entry.payload())));
          }
          return true;
        });
  }

  @Override
  public boolean hasNext() {
    while (!part.hasNext() && next <= end) {
      var names = new ArrayList<byte[]>();
      long last = Math.min(end, next + SCAN_ENTRIES - 1);
      streams.scan(
          stream,
          next,
          last,
          entry -> {
            if (entry.kind() == Records.LISTED && !gone.get((int) entry.address())) {
              names.add(entry.payload());
            }
            return true;
          });
      next = last + 1;
      part = names.iterator();
    }
    return part.hasNext();
  }

  @Override
  public byte[] next() {
    if (!hasNext()) throw new NoSuchElementException();
    return part.next();
  }
}
