package stoa.client;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import stoa.Closed;
import stoa.Limits;
import stoa.StoaConfig;
import stoa.Transaction;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.front.Service;
import stoa.front.SharedBlob;
import stoa.front.SharedCall;
import stoa.front.SharedReferences;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Keys;
import stoa.wire.Channels;
import stoa.wire.MessageForms;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Changed;
import stoa.wire.proto.Event;
import stoa.wire.proto.ListObjects;
import stoa.wire.proto.OutcomeOf;
import stoa.wire.proto.Request;
import stoa.wire.proto.TransactionId;

/// A server's part of a store: all of it, or the part that its group keeps. Thread-safe.
final class RemotePart implements Service.Vocabulary {
  private static final int STATE_BYTES_MAX = 512 << 20;
  private static final int CONTAINERS_MAX = 10_000;
  private static final int LOCAL_COPIES_MAX = CONTAINERS_MAX / 2;

  private final RemoteService service;
  private final int group;
  private final Limits limits;
  private final ClassLoader loader;
  private final Conversation conversation;
  private final Marshaller marshaller;
  private final RequestCodec requests;
  private final RemoteTypes types;
  private final RemoteSnapshots snapshots;
  private final LocalCopies localCopies;
  private final RemoteBlobs blobs;
  private final RemoteStreams streams;
  private final RemoteKeys keys;
  private final AtomicLong transactions = new AtomicLong();

  /// Connects.
  ///
  /// @param service the service that it is a part of
  /// @param group the group that keeps it
  /// @param servers further servers that may have it, beside those of the URL
  /// @throws stoa.Unavailable when no server answers
  RemotePart(
      RemoteService service,
      StoaConfig config,
      ClassLoader loader,
      int group,
      List<String> servers) {
    this.service = service;
    this.group = group;
    this.loader = loader;
    limits = config.limits();
    conversation =
        new Conversation(
            ServerUrl.of(config.url()),
            servers,
            group,
            service.observed(),
            new Channels(config.security()),
            limits,
            CONTAINERS_MAX,
            new Messages());
    var names = new RemoteNames(this::ask);
    marshaller =
        new Marshaller(
            names,
            new SharedReferences(service.stoa(), this),
            SharedBlob.class,
            List.of(),
            loader,
            STATE_BYTES_MAX);
    var failures = new ReceivedFailures(marshaller, loader);
    conversation.start();
    var server = conversation.server();
    long time = limits.callTimeMax().toMillis();
    boolean shorter = time < server.getCallTimeMaxMillis();
    requests = new RequestCodec(marshaller, failures, shorter ? (int) time : 0);
    int callBytesMax = Math.min(limits.callBytesMax(), server.getCallBytesMax());
    types = new RemoteTypes(this, names, marshaller, loader, callBytesMax);
    snapshots = new RemoteSnapshots(this, conversation);
    localCopies =
        new LocalCopies(
            this, Math.min(limits.residentBytesMax(), STATE_BYTES_MAX), LOCAL_COPIES_MAX);
    blobs = new RemoteBlobs(this, Math.min(limits.blobBytesMax(), server.getBlobBytesMax()));
    streams = new RemoteStreams(this);
    keys = new RemoteKeys(this);
    try {
      names.refresh();
      var _ = types.readmit();
      types.extra(config.types());
    } catch (RuntimeException | Error failed) {
      end();
      throw failed;
    }
  }

  /// Adds its measurements to a report.
  void measure(Measures out) {
    conversation.measure(out);
    localCopies.measure(out);
  }

  /// Returns the whole store.
  RemoteService service() {
    return service;
  }

  /// Returns the group that keeps this part.
  int group() {
    return group;
  }

  /// Whether the server takes classes from clients.
  boolean takesClasses() {
    return conversation.server().getClientClasses();
  }

  /// Brings the code of a shared class, or of a class of handlers, to the server.
  ///
  /// @param type as of [ClassBringer#bring]
  /// @throws stoa.NotShareable when the server refuses it
  void bring(String type, Class<?> implementation, Class<?> face) {
    new ClassBringer(conversation, group).bring(type, implementation, face);
  }

  // ---- what its marshaller speaks of

  @Override
  public RemoteObject named(String type, Object key) {
    return object(types.named(type), key);
  }

  @Override
  public RemoteObject target(Class<?> face, Object key) {
    return object(types.of(face), key);
  }

  @Override
  public void admit(Class<?> type) {
    types.admit(type);
  }

  private RemoteObject object(RemoteType type, Object key) {
    Key target = type.key(key);
    int home = service.group(type.shared(), target);
    return new RemoteObject(service, home, type.shared(), home == group ? type : null, target);
  }

  @Override
  public RemoteBlob blob(Object key, long generation) {
    return service.first().blobs().reference(key, generation);
  }

  @Override
  public void mention(SharedCall object) {
    boolean isOwn = ((RemoteObject) object.target()).group() == group;
    if (!isOwn) types.visit(object.shared(), service.first().types());
  }

  @Override
  public void mentionBlob() {
    types.blobs();
  }

  @Override
  public boolean learn() {
    return service.teach(types) || types.learn();
  }

  // ---- requests

  /// Returns the encoded keys of the existing objects of a class in this part.
  Iterator<byte[]> names(Class<?> face) {
    return names(types.of(face).shared().name());
  }

  /// Returns the encoded keys like the other method, of a type by its stored name.
  Iterator<byte[]> names(String type) {
    return new Names(type);
  }

  /// The keys of a listing, fetched page by page.
  private final class Names implements Iterator<byte[]> {
    private final String type;
    private Iterator<com.google.protobuf.ByteString> page;
    private com.google.protobuf.ByteString next = com.google.protobuf.ByteString.EMPTY;

    private Names(String type) {
      this.type = type;
      page = fetch();
    }

    private Iterator<com.google.protobuf.ByteString> fetch() {
      var asked = ListObjects.newBuilder().setType(type).setPage(next);
      var request = requests.timed(Request.newBuilder().setListObjects(asked));
      var keys = ask(Outgoing.of(request, Outgoing.Recovery.READ, 64)).getKeys();
      next = keys.getNext();
      return keys.getKeysList().iterator();
    }

    @Override
    public boolean hasNext() {
      while (!page.hasNext() && !next.isEmpty()) page = fetch();
      return page.hasNext();
    }

    @Override
    public byte[] next() {
      if (!hasNext()) throw new NoSuchElementException();
      return page.next().toByteArray();
    }
  }

  /// Returns its snapshots.
  RemoteSnapshots moments() {
    return snapshots;
  }

  /// Returns the number of the next transaction.
  long nextTransaction() {
    return transactions.incrementAndGet();
  }

  /// Returns the outcome of a transaction.
  Transaction.Outcome outcome(Transaction.Id id) {
    return outcome(
        TransactionId.newBuilder()
            .setType(id.object().type())
            .setKey(com.google.protobuf.ByteString.copyFrom(Keys.encode(id.object().key())))
            .setVersion(id.version())
            .setMarkHigh(id.mark().getMostSignificantBits())
            .setMarkLow(id.mark().getLeastSignificantBits())
            .build());
  }

  Transaction.Outcome outcome(TransactionId id) {
    var request = Request.newBuilder().setOutcomeOf(OutcomeOf.newBuilder().setId(id));
    var outcome = ask(Outgoing.of(request, Outgoing.Recovery.READ, 64)).getOutcome();
    return outcome.getKind() == stoa.wire.proto.Outcome.Kind.COMMITTED
        ? new Transaction.Outcome.Committed(MessageForms.at(outcome.getAt()))
        : new Transaction.Outcome.NotCommitted();
  }

  /// Closes this part.
  void end() {
    conversation.close();
  }

  // ---- messages of the server

  private final class Messages implements Conversation.Listener {
    @Override
    public void changed(Changed changed, long before) {
      Container container = conversation.containers().of(changed.getContainer());
      Followed follower = container == null ? null : container.follower;
      if (follower != null) follower.changed(changed.getCounter(), before);
    }

    @Override
    public void event(Event event) {
      keys.event(event);
    }

    @Override
    public void forgotten() {
      snapshots.forgotten();
      keys.forgotten();
    }
  }

  // ---- for the other classes of this package

  LocalCopies localCopies() {
    return localCopies;
  }

  Conversation conversation() {
    return conversation;
  }

  RequestCodec requests() {
    return requests;
  }

  RemoteTypes types() {
    return types;
  }

  RemoteStreams streams() {
    return streams;
  }

  RemoteKeys keys() {
    return keys;
  }

  RemoteBlobs blobs() {
    return blobs;
  }

  Marshaller marshaller() {
    return marshaller;
  }

  ClassLoader loader() {
    return loader;
  }

  Limits limits() {
    return limits;
  }

  /// Completes a future on a thread of its own: its waiters may do anything there.
  <T> void hand(CompletableFuture<T> answer, Supplier<T> work) {
    try {
      service
          .answers()
          .execute(() -> {
            try {
              answer.complete(work.get());
            } catch (RuntimeException | Error failed) {
              answer.completeExceptionally(failed);
            }
          });
    } catch (RejectedExecutionException closed) {
      answer.completeExceptionally(new Closed("the store was closed before the answer was read"));
    }
  }

  /// Returns an answer, or throws the failure in it.
  Answer sound(Answer answer) {
    return requests.sound(answer);
  }

  Answer ask(Outgoing outgoing) {
    return requests.sound(conversation.ask(outgoing));
  }
}
