package stoa.bench.tx;

import stoa.Accessor;
import stoa.Shared;

/// A web page that records its views (vCorfu, section 6.3: the advertising workload).
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.tx.Page")
public class Page {
  private long views;
  private long lastAddress;
  private int lastX;
  private int lastY;

  protected Page() {}

  /// Records a view: the viewer's address, and the place of the click.
  public void view(long address, int x, int y) {
    views++;
    lastAddress = address;
    lastX = x;
    lastY = y;
  }

  /// Returns the number of views.
  @Accessor
  public long views() {
    return views;
  }

  /// Returns the last view, in one number.
  @Accessor
  public long last() {
    return lastAddress ^ (long) lastX << 32 ^ lastY;
  }
}
