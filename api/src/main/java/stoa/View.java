package stoa;

import java.util.Objects;

/// How a client sees an object (vCorfu, section 4.2). A client may have any number of views of one
/// object at once.
///
/// Calls that are not accessors go to the object whatever the view, except through a view of the
/// past, where they throw [UnsupportedOperationException]. Inside a transaction, and in the methods
/// of shared objects, [Local] and [Cached] are like [Remote].
public sealed interface View {
  /// The live object: calls execute where it lives. The default.
  record Remote() implements View {}

  /// A state of the object in the caller's process, which playback of its stream keeps up to date.
  /// Accessors run on the calling thread, one at a time. An accessor sees every call that has
  /// returned to any caller before, so accessors are linearizable, as those of [Remote]. Each one
  /// costs one check of the stream's last address, and the playback of missing entries. Use it for
  /// objects with many reads and few writes.
  ///
  /// The client of a server gets the missing calls and executes them, if it has the code that
  /// executed them at the server and they take fewer bytes than the state; otherwise the whole
  /// state.
  record Local() implements View {}

  /// As [Local], but accessors answer from the last known state, without waiting. Everything that
  /// this client does through cached views and by calls happens in one order, that of the log
  /// (sequential consistency): it never sees an older state of any object than the states that it
  /// has seen, and the calls that it has made, allow. It sees the calls of others as soon as this
  /// process has executed them.
  ///
  /// At the client of a server, the server tells of each change, and the client fetches the calls
  /// or the new state of an object that it reads while accessors go on with the old one. An
  /// accessor waits for the server where the order demands it: when this client has seen or done
  /// something since the change, when it had not read the object since the previous change, or when
  /// it has dropped the state. The client keeps states while a view is reachable, the last read
  /// ones, up to [Limits#residentBytesMax()].
  record Cached() implements View {}

  /// The object in the calling process: it migrates there, as objects of [Placement#CLIENT] do, and
  /// calls through the view execute there. The rules of that placement hold while such a view
  /// exists: calls through it return before they are durable, see [Stoa#flush()].
  ///
  /// The store lends an object of [Placement#SERVER] to the clients of its [Shared#domain()] when
  /// the first of them opens such a view. It takes the object back a second after the last view has
  /// become unreachable, or its process has ended. Meanwhile, ordinary proxies continue to work:
  /// their calls execute where the store is, see everything done before, and are durable when they
  /// return; one whose server fails meanwhile may end with [UnknownOutcome]. Calls by methods of
  /// other objects, and transactions, throw [UnsupportedOperationException]. [Local], [Cached] and
  /// the views of the past show what is durable. An object of [Placement#AUTO] stays at the clients
  /// while such a view exists. For an object of [Placement#CLIENT] the view only determines what
  /// accessors see.
  ///
  /// Inside a transaction such a view is refused, and so are asynchronous calls through it.
  /// Asynchronous calls through ordinary proxies have no order among each other while the object is
  /// lent. A store in this process has the object at its root, where calls are durable when they
  /// return.
  ///
  /// A store in several groups lends only the objects of group 0. A view of an object of another
  /// group throws [UnsupportedOperationException]; with [Placement#CLIENT], all objects of the
  /// class are in group 0.
  ///
  /// @param reads what accessors see; [Reads#STRICT] until this process has seen the newest state
  ///   since the object was lent, and always for an object of [Placement#AUTO]
  record Client(Reads reads) implements View {
    public Client {
      Objects.requireNonNull(reads, "reads");
    }
  }

  /// The object as it was at a version; for accessors only. See [History#at].
  ///
  /// @param version the stream address of the last visible call
  record AtVersion(long version) implements View {}

  /// The object as it was at a log address; for accessors only. Shared objects in their answers are
  /// views at the same address. The store does not trim what the view shows while it, or another
  /// view that came of it, is reachable.
  ///
  /// @param address a log address up to the present
  record AtAddress(LogAddress address) implements View {
    public AtAddress {
      Objects.requireNonNull(address, "address");
    }
  }

  /// The object as it was when a snapshot was taken; as [Snapshot#on].
  ///
  /// @param snapshot the snapshot
  record AtSnapshot(Snapshot snapshot) implements View {
    public AtSnapshot {
      Objects.requireNonNull(snapshot, "snapshot");
    }
  }
}
