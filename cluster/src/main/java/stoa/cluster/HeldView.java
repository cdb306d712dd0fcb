package stoa.cluster;

import org.jspecify.annotations.Nullable;

/// The last view that a server was told since its start, and with which mandate. One owner.
final class HeldView {
  private ServerRequest.Mandate mandate = ServerRequest.Mandate.NONE;
  private @Nullable ClusterView view;

  /// Takes a whole view.
  ClusterView take(ServerRequest.Mandate given, ClusterView told) {
    mandate = given;
    view = told;
    return told;
  }

  /// Takes what has changed.
  ///
  /// @return the view; null when the change is that of another view than the one here, which stays
  @Nullable ClusterView take(ServerRequest.Mandate given, ViewChange change) {
    ClusterView before = view;
    var base = new ServerRequest.Mandate(given.term(), change.base());
    return before == null || !base.equals(mandate) ? null : take(given, change.of(before));
  }

  /// Returns the mandate of the message that told the view; [ServerRequest.Mandate#NONE] when there
  /// is no view.
  ServerRequest.Mandate mandate() {
    return mandate;
  }
}
