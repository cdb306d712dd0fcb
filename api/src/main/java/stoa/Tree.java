package stoa;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The part of this process in the trees through which client-placed objects migrate (self-service,
/// section 3); from [Stoa#tree()]. Each domain ([Shared#domain()]) has a tree. Thread-safe.
public interface Tree {
  /// Begins to make everything durable that this client has done to client-placed objects, and seen
  /// of them, until this call; as [Stoa#flush()], without waiting.
  ///
  /// @return fails with what [Stoa#flush()] throws
  CompletableFuture<@Nullable Void> flush();

  /// Returns where an object is, as far as this process knows. Other processes may have moved it
  /// when this returns. Takes a place in the tree of the object's domain if this process has none.
  ///
  /// @throws UnsupportedOperationException when the object cannot be at clients
  Whereabouts where(Object shared);

  /// Returns the places of this process, one for each domain of whose tree it is a part.
  List<Place> places();

  /// Calls a listener whenever this process is disconnected from a tree, for as long as the store
  /// is open. The process takes another place in the tree by itself. The listener gets one event at
  /// a time, on a thread that waits for nothing else, and may call the store.
  ///
  /// A store in this process has the roots of all trees, and is never disconnected.
  ///
  /// @throws LimitExceeded when there are 1,000 listeners
  void listen(Consumer<Disconnected> listener);

  /// From now on, the first call of a client-placed object after a disconnection throws
  /// [UnknownOutcome], and does nothing, if the disconnection may have lost changes that this
  /// client has made, or made void what it has read. So no call builds on them unnoticed. The same
  /// disconnection then makes no [Stoa#flush()] throw. Without this, [Stoa#flush()] and
  /// [Stoa#close()] throw it, and calls go on.
  void throwAfterLoss();

  /// The place of this process in a tree.
  ///
  /// @param domain the domain of the tree
  /// @param node its node, as its neighbors call it; another one after each disconnection
  /// @param above the node above it; empty for the root, and while it has no place
  /// @param children how many nodes are directly below it
  /// @param objects how many objects are here that others may want
  record Place(String domain, String node, Optional<String> above, int children, int objects) {}

  /// Where an object is.
  sealed interface Whereabouts {
    /// The object is here: calls on it need no message.
    record Here() implements Whereabouts {}

    /// The object is at the server, which executes its calls.
    record AtServer() implements Whereabouts {}

    /// The object is in the direction of a neighbor, or on its way from there.
    ///
    /// @param node the neighbor, as in [Place]
    record Beyond(String node) implements Whereabouts {}

    /// This process has no place in the tree now.
    record Unknown() implements Whereabouts {}
  }

  /// This process was disconnected from a tree: its connection, a process above it, or the server
  /// was silent for too long, or the tree has another root.
  ///
  /// @param domain the domain of the tree
  /// @param mayLoseCalls whether calls on its objects that this process has made may be lost: no
  ///   later flush covers them
  /// @param mayVoidReads whether this process may have read what is lost
  record Disconnected(String domain, boolean mayLoseCalls, boolean mayVoidReads) {}
}
