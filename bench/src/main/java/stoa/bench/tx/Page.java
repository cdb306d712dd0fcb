package stoa.bench.tx;

import stoa.Accessor;
import stoa.Shared;

/// A web page whose views are recorded (vCorfu, section 6.3: the advertising workload).
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.tx.Page")
public class Page {
  private long views;
  private long lastAddress;
  private int lastX;
  private int lastY;

  protected Page() {}

  /// Records a view: who looked, and where the page was clicked.
  public void view(long address, int x, int y) {
    views++;
    lastAddress = address;
    lastX = x;
    lastY = y;
  }

  /// How often it was looked at.
  @Accessor
  public long views() {
    return views;
  }

  /// The last view, in one number.
  @Accessor
  public long last() {
    return lastAddress ^ (long) lastX << 32 ^ lastY;
  }
}
