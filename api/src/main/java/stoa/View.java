package stoa;

import java.util.Objects;

/// How a client sees an object (vCorfu, section 4.2). A client may have any number of views of one
/// object at once.
///
/// Calls that are not accessors go to the object whatever the view, unless it is one of the past,
/// where they throw [UnsupportedOperationException]. Within a transaction, and in the methods of
/// shared objects, [Local] and [Cached] are like [Remote].
public sealed interface View {
  /// The live object: calls execute where it lives. The default.
  record Remote() implements View {}

  /// A state of the object that is kept at the caller, by playback of its stream. Accessors run on
  /// the calling thread, one at a time, and see everything that was answered to anybody before they
  /// were called: they are linearizable, as those of [Remote]. To know that costs one check of the
  /// stream's last address; then what is missing is played. For objects that are read often and
  /// written seldom.
  record Local() implements View {}

  /// As [Local], but accessors answer from the state that was seen last, without waiting. All that
  /// this client does through cached views and by calls happens in one order, which is that of the
  /// log (sequential consistency): it never sees an older state of any object than what it has seen
  /// of others, or done, allows. What others do is seen as soon as it is executed here.
  ///
  /// At the client of a server, the server tells of each change, and the new state of an object
  /// that is read is fetched while accessors go on with the old one. An accessor waits for the
  /// server where the order demands it: when this client has seen or done something since the
  /// change, when nobody had read the object since the change before, or when the state was let go.
  /// States are kept as long as a view can be reached, those read last, up to
  /// [Limits#residentBytesMax()].
  record Cached() implements View {}

  /// The object in the calling process: it migrates there, as objects of [Placement#CLIENT] do, and
  /// calls that are made through the view execute there. What is said of these holds of it as long
  /// as somebody has such a view: calls through it are answered before they are durable, see
  /// [Stoa#flush()].
  ///
  /// An object of [Placement#SERVER] is lent to the clients of its [Shared#domain()] when the first
  /// one asks for such a view, and comes back when the last view of it cannot be reached any more,
  /// or its process has gone; it stays for a second more, should somebody ask again. Meanwhile,
  /// ordinary proxies go on working: their calls execute where the store is, see all that was done
  /// before, and are durable when they are answered; one whose server fails meanwhile may end with
  /// [UnknownOutcome]. Calls of other objects' methods, and transactions, are refused with
  /// [UnsupportedOperationException]. [Local], [Cached] and the views of the past see what is
  /// durable. One of [Placement#AUTO] stays at the clients as long as there is such a view. Of one
  /// of [Placement#CLIENT] the view says what accessors see.
  ///
  /// Within a transaction such a view is refused, and so are asynchronous calls through it. Those
  /// of ordinary proxies have no order among each other while the object is lent. A store in this
  /// process has the object at its root, where calls are durable before they are answered.
  ///
  /// Of a store in several groups, only the objects of group 0 can be lent. A view of an object of
  /// another group is refused with [UnsupportedOperationException]; placing its class at
  /// [Placement#CLIENT] keeps all objects of the class in group 0.
  ///
  /// @param reads what accessors see; they are [Reads#STRICT] in any case until this process has
  ///   seen the newest state since the object was lent, and always of one of [Placement#AUTO]
  record Client(Reads reads) implements View {
    public Client {
      Objects.requireNonNull(reads, "reads");
    }
  }

  /// The object as it was at a version; only its accessors may be called. See [History#at].
  ///
  /// @param version the stream address of the last call that is seen
  record AtVersion(long version) implements View {}

  /// The object as it was at a log address; only its accessors may be called. Shared objects that
  /// they answer are views at the same address. What the view shows is not trimmed while it, or
  /// another that came of it, can be reached.
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
