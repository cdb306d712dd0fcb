package stoa;

/// A shared object that the store tells of the changes of other objects; see [Listeners].
///
/// Its class is annotated with [Shared]. The store calls [#on] as it calls every method of a shared
/// object: logged, one call at a time, where the object lives. So the listener's state, the calls
/// that it makes on other objects, and the code with which it runs survive whatever crashes.
public interface ObjectListener {
  /// Handles a change.
  ///
  /// It is called for one change after the other, in the order of the log among the objects of a
  /// group. When it throws, or is taken back because it does not end, the store calls it again with
  /// the same event after a while; what it had changed before it threw stays. An event has the same
  /// [ObjectEvent#address] and [ObjectEvent#index] each time.
  ///
  /// Changes of objects that this method calls are changes like all others: a listener that calls
  /// what it listens to tells itself without end.
  void on(ObjectEvent event);
}
