package stoa.front;

import java.util.Iterator;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import stoa.Closed;
import stoa.ObjectListing;

/// A listing that creates its proxies as the caller reads it. One thread at a time reads it; any
/// thread may close it.
public final class Listed<T> implements ObjectListing<T> {
  private final Iterator<byte[]> names;
  private final java.util.function.Function<byte[], T> proxies;
  private boolean begun;
  private volatile boolean closed;

  /// @param names the encoded keys
  /// @param proxies returns the proxy of a key
  public Listed(Iterator<byte[]> names, java.util.function.Function<byte[], T> proxies) {
    this.names = names;
    this.proxies = proxies;
  }

  @Override
  public Iterator<T> iterator() {
    if (begun) throw new IllegalStateException("a listing is iterated once; ask for a new one");
    begun = true;
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        if (closed) throw new Closed("the listing is closed");
        return names.hasNext();
      }

      @Override
      public T next() {
        if (closed) throw new Closed("the listing is closed");
        return proxies.apply(names.next());
      }
    };
  }

  @Override
  public Stream<T> stream() {
    return StreamSupport.stream(
        java.util.Spliterators.spliteratorUnknownSize(
            iterator(), java.util.Spliterator.ORDERED | java.util.Spliterator.NONNULL),
        false);
  }

  @Override
  public void close() {
    closed = true;
  }
}
