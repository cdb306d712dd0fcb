package stoa.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/// The views that one leader of group 0 has told each server. A server that has confirmed a view
/// gets what has changed since that one; any other server gets a whole view, as do servers of
/// earlier versions, which confirm none. One owner.
final class ToldViews {
  /// A view, and the number of the mandate with which a server got it.
  private record Told(long number, ClusterView view) {}

  private final long term;
  private final Map<String, Told> last = new HashMap<>();
  private final Map<String, Told> confirmed = new HashMap<>();

  /// @param term in which the server leads group 0
  ToldViews(long term) {
    this.term = term;
  }

  /// Returns the message that tells a server a view.
  ///
  /// @param number of the message's mandate
  ServerRequest.Said next(String server, long number, ClusterView view) {
    last.put(server, new Told(number, view));
    Told base = confirmed.get(server);
    return base == null
        ? new ServerRequest.Said.Know(view)
        : new ServerRequest.Said.Changed(ViewChange.between(base.number, base.view, view));
  }

  /// Notes which view a server has.
  ///
  /// @param has the mandate with which the server got it
  void has(String server, ServerRequest.Mandate has) {
    Told told = last.get(server);
    if (told == null || !isOf(told, has)) told = confirmed.get(server);
    if (told != null && isOf(told, has)) confirmed.put(server, told);
    else confirmed.remove(server);
  }

  private boolean isOf(Told told, ServerRequest.Mandate has) {
    return has.equals(new ServerRequest.Mandate(term, told.number));
  }

  /// Forgets a server, whose connection has ended.
  void forget(String server) {
    last.remove(server);
    confirmed.remove(server);
  }

  /// Forgets all servers but some.
  void retain(Set<String> servers) {
    last.keySet().retainAll(servers);
    confirmed.keySet().retainAll(servers);
  }
}
