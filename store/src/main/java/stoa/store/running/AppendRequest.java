package stoa.store.running;

import stoa.store.calls.Pace;

/// A request to append to several users' streams at one log address.
public final class AppendRequest extends Request {
  public final Appending appending;

  public AppendRequest(Appending appending) {
    super(appending.residents()[0], Pace.SHORT, 0);
    this.appending = appending;
  }

  @Override
  public boolean isOrdered() {
    return true;
  }

  @Override
  public long bytes() {
    return appending.bytes();
  }

  @Override
  public long keptBytes() {
    return bytes() + ENTRY_BYTES;
  }

  @Override
  public boolean isSparing() {
    return false;
  }

  @Override
  void release() {
    observe();
    super.release();
  }

  @Override
  void unpin() {
    appending.unpin();
  }
}
