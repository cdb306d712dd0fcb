package stoa.front;

import java.util.List;
import stoa.History;
import stoa.front.proxy.Proxies;

/// The past of one object. Thread-safe.
final class SharedHistory<T> implements History<T> {
  private final T proxy;
  private final SharedCall live;

  SharedHistory(T proxy, SharedCall live) {
    this.proxy = proxy;
    this.live = live;
  }

  @Override
  public long version() {
    return live.target().version();
  }

  @Override
  public long oldest() {
    return live.target().oldest();
  }

  @Override
  public long trim(long before) {
    return live.target().trim(before);
  }

  @Override
  public T at(long version) {
    SharedCall then = live.anyGeneration(Sharing.proxied(proxy).constructorArguments());
    var past = new PastCall(then, live.target().past(version), null);
    return Sharing.through(proxy, shared -> Proxies.redirect(shared, past));
  }

  @Override
  public List<Entry> entries(long from, long to) {
    return live.target().entries(from, to);
  }
}
