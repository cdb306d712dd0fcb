package stoa.store;

/// A request to append to users' streams, at one log address.
final class AppendRequest extends Request {
  final Appending appending;

  AppendRequest(Appending appending) {
    super(appending.residents()[0], Pace.SHORT, 0);
    this.appending = appending;
  }

  @Override
  boolean isOrdered() {
    return true;
  }

  @Override
  long bytes() {
    return appending.bytes();
  }

  @Override
  long keptBytes() {
    return bytes() + ENTRY_BYTES;
  }

  @Override
  boolean isSparing() {
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
