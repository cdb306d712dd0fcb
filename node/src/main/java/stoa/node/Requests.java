package stoa.node;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.DeadlineExceeded;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Snapshot;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.StreamId;
import stoa.objects.ObjectService;
import stoa.store.CallId;
import stoa.store.Earlier;
import stoa.store.Existence;
import stoa.store.Pins;
import stoa.store.Transaction;
import stoa.wire.Frames;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Answered;
import stoa.wire.proto.At;
import stoa.wire.proto.Begin;
import stoa.wire.proto.Blob;
import stoa.wire.proto.Call;
import stoa.wire.proto.Delete;
import stoa.wire.proto.Done;
import stoa.wire.proto.EntriesAre;
import stoa.wire.proto.Failure;
import stoa.wire.proto.Keys;
import stoa.wire.proto.Names;
import stoa.wire.proto.NamesAre;
import stoa.wire.proto.Open;
import stoa.wire.proto.Outcome;
import stoa.wire.proto.Request;
import stoa.wire.proto.SnapshotIs;
import stoa.wire.proto.Snapshots;
import stoa.wire.proto.State;
import stoa.wire.proto.TransactionId;

/// Executes what clients ask. Thread-safe.
///
/// [#begin] waits for nothing: it begins calls, and gives what may take long to the lane of the
/// object or transaction that is asked, so that what one client asks of either is done in order.
final class Requests {
  private static final int NAMES_MAX = 4_096;
  private static final int KEYS_MAX = 1_000;

  /// How long a transaction may take at most: what it reads is kept for it.
  private static final long TIME_MICROS_MAX = TimeUnit.HOURS.toMicros(24);

  private final Node node;
  private final ObjectService service;
  private final KeyRequests keys;

  Requests(Node node) {
    this.node = node;
    this.service = node.service();
    this.keys = new KeyRequests(this, service);
  }

  /// One request that is under way.
  final class Asked {
    private final Session session;
    private final Request request;
    private final long arrivedNanos = node.nowNanos();

    private Asked(Session session, Request request) {
      this.session = session;
      this.request = request;
    }

    void answer(Answer.Builder answer) {
      if (node.isOver()) return; // the server that has the store now is asked again
      Answer built = answer.setSequence(request.getSequence()).build();
      if (built.getSerializedSize() > Frames.BYTES_MAX - 1_024) {
        var tooLarge =
            new LimitExceeded(
                "the answer takes "
                    + built.getSerializedSize()
                    + " bytes, and a frame has "
                    + Frames.BYTES_MAX
                    + "; ask for less at once");
        built = failure(tooLarge).setSequence(request.getSequence()).build();
      }
      node.answered().count();
      session.answer(built);
    }

    void fail(Throwable cause) {
      answer(failure(cause));
    }

    private Answer.Builder failure(Throwable cause) {
      Failure failure = Failures.of(cause, service);
      return Answer.newBuilder().setReach(service.moment()).setFailure(failure);
    }

    /// Does what answers, and tells when it fails.
    void attempt(Work work) {
      try {
        checkTime();
        answer(work.answer());
      } catch (Throwable failed) {
        refuse(failed);
      }
    }

    /// Starts what answers later, and tells when it fails.
    void start(Supplier<CompletableFuture<byte[]>> work) {
      try {
        checkTime();
        var _ =
            work.get()
                .whenComplete((done, failed) -> {
                  if (failed == null) answer(data(done));
                  else refuse(failed);
                });
      } catch (Throwable failed) {
        refuse(failed);
      }
    }

    private void refuse(Throwable failed) {
      switch (failed) {
        case CompletionException told when told.getCause() != null -> refuse(told.getCause());
        case VirtualMachineError beyond ->
            fail(new Unavailable("the server failed: " + beyond, beyond));
        default -> fail(failed);
      }
    }

    private void checkTime() {
      int millis = request.getTimeMillis();
      if (millis > 0 && node.nowNanos() - arrivedNanos > TimeUnit.MILLISECONDS.toNanos(millis)) {
        throw new DeadlineExceeded(
            "the call waited for more than " + millis + " ms; nothing was written");
      }
    }

    private Duration timeLeft() {
      int millis = request.getTimeMillis();
      Duration most = service.limits().callTimeMax();
      if (millis == 0) return most;
      var left = Duration.ofMillis(millis).minusNanos(node.nowNanos() - arrivedNanos);
      return left.compareTo(most) < 0 ? left : most;
    }

    /// Since when the log is to be searched for it; 0 when it comes for the first time.
    long since() {
      return request.getSince();
    }

    CallId id() {
      return new CallId(session.id(), request.getSequence());
    }
  }

  interface Work {
    Answer.Builder answer() throws Throwable;
  }

  /// Begins a request; waits for nothing.
  void begin(Session session, Request request) {
    var asked = new Asked(session, request);
    try {
      if (request.getTransaction() != 0) inTransaction(asked);
      else begin(asked);
    } catch (RuntimeException | LinkageError | StackOverflowError refused) {
      asked.fail(refused);
    }
  }

  private void begin(Asked asked) {
    Request request = asked.request;
    Session session = asked.session;
    switch (request.getWhatCase()) {
      case OPEN -> open(asked, request.getOpen());
      case CLOSE -> {
        int number = request.getClose().getContainer();
        Container container = session.containers.remove(number);
        Runnable closing =
            () -> {
              session.unfollow(number);
              asked.answer(done());
            };
        if (container == null) closing.run();
        else container.lane().quick(closing);
      }
      case CALL -> call(asked, request.getCall());
      case DELETE -> delete(asked, request.getDelete());
      case FIND ->
          onObject(
              asked,
              request.getFind().getContainer(),
              object -> done(service.generation(object), 0));
      case NAMES -> aside(asked, () -> names(request.getNames()));
      case TYPE_NAMES ->
          onCalls(
              asked,
              () -> {
                var names = request.getTypeNames();
                if (names.getAdmitted()) service.naming().admit(names.getClassName());
                else service.naming().use(names.getClassName());
                return done();
              });
      case OUTCOME_OF -> onCalls(asked, () -> outcome(request.getOutcomeOf().getId()));
      case FOLLOW -> {
        int container = request.getFollow().getContainer();
        onObject(
            asked,
            container,
            object -> {
              session.unfollow(container);
              session.watches.put(
                  container, service.watch(object, counter -> session.changed(container, counter)));
              if (session.isEnded() || !session.containers.containsKey(container)) {
                // It ended or was closed meanwhile, which may have missed this one.
                session.unfollow(container);
              }
              return done();
            });
      }
      case UNFOLLOW -> {
        session.unfollow(request.getUnfollow().getContainer());
        asked.answer(done());
      }
      case FETCH -> {
        long unless = request.getFetch().getUnlessVersion() - 1;
        onObject(
            asked,
            request.getFetch().getContainer(),
            object -> state(service.fetch(object, unless), unless));
      }
      case CHECK ->
          onObject(
              asked,
              request.getCheck().getContainer(),
              object -> done(service.position(object), 0));
      case TAKE_SNAPSHOT ->
          once(
              asked,
              () -> snapshots(List.of(service.takeSnapshot(request.getTakeSnapshot().getName()))));
      case FIND_SNAPSHOT ->
          aside(
              asked,
              () -> {
                Snapshot found = service.findSnapshot(request.getFindSnapshot().getName());
                return snapshots(found == null ? List.of() : List.of(found));
              });
      case LIST_SNAPSHOTS -> aside(asked, () -> snapshots(service.snapshots()));
      case DELETE_SNAPSHOT ->
          once(
              asked,
              () -> done(service.deleteSnapshot(request.getDeleteSnapshot().getName()) ? 1 : 0, 0));
      case PIN -> aside(asked, () -> pin(session, request));
      case UNPIN -> {
        Pins.Pin pin = session.pins.remove(request.getUnpin().getPin());
        if (pin != null) pin.close();
        asked.answer(done());
      }
      case BOUNDS ->
          onObject(
              asked,
              request.getBounds().getContainer(),
              object -> done(service.oldest(object), service.position(object)));
      case ENTRIES -> {
        var entries = request.getEntries();
        onObject(
            asked,
            entries.getContainer(),
            object -> {
              var all = EntriesAre.newBuilder();
              service
                  .events(object, entries.getFrom(), entries.getTo())
                  .forEach(event -> all.addEntries(Entries.of(event)));
              return Answer.newBuilder().setReach(service.moment()).setEntries(all);
            });
      }
      case TRIM -> {
        if (isLost(asked)) return;
        onObject(
            asked,
            request.getTrim().getContainer(),
            object -> done(service.trim(object, request.getTrim().getBefore()), 0));
      }
      case LIST_OBJECTS ->
          onCalls(
              asked,
              () ->
                  list(
                      session,
                      request.getListObjects().getType(),
                      request.getListObjects().getPage()));
      case LISTEN -> onCalls(asked, () -> keys.listen(session, request.getListen()));
      case UNLISTEN -> aside(asked, () -> keys.unlisten(session, request.getUnlisten()));
      case HEARD -> {
        keys.heard(session, request.getHeard());
        asked.answer(done());
      }
      case KEY_PUT -> keys.put(asked, request.getKeyPut());
      case KEY_GET -> keys.get(asked, request.getKeyGet());
      case GOODBYE ->
          node.background(() -> {
            asked.attempt(Requests::done);
            node.registry().end(session);
          });
      case BLOB -> blob(asked, request.getBlob());
      case STREAM -> {
        var stream = request.getStream();
        boolean changes =
            stream.getOperation() == StreamCalls.APPEND
                || stream.getOperation() == StreamCalls.TRIM;
        if (changes && isLost(asked)) return;
        if (stream.getOperation() == StreamCalls.APPEND) {
          // Begun here, so that what one thread begins is appended in that order.
          asked.start(
              () -> StreamCalls.append(service.streams(), stream.getArguments().toByteArray()));
          return;
        }
        aside(
            asked,
            () ->
                data(
                    StreamCalls.answer(
                        service.streams(),
                        stream.getOperation(),
                        stream.getArguments().toByteArray())));
      }
      case BEGIN -> begin(asked, request.getBegin());
      case ENTER, LEAVE, COMMIT, END ->
          throw new IllegalArgumentException(request.getWhatCase() + " is said in a transaction");
      case WHAT_NOT_SET ->
          throw new IllegalArgumentException(
              "request " + request.getSequence() + " asks nothing that this server knows");
    }
  }

  private void blob(Asked asked, Blob blob) {
    int operation = blob.getOperation();
    if (!BlobCalls.isRepeatable(operation) && isLost(asked)) return;
    Session session = asked.session;
    Runnable work =
        () ->
            asked.start(() ->
                session.blobCalls.start(
                    service,
                    blob.getKey().toByteArray(),
                    blob.getGeneration(),
                    operation,
                    blob.getArguments().toByteArray()));
    if (BlobCalls.isRead(operation)) node.background(work);
    else session.blobs.slow(blob.getKey(), work);
  }

  private Answer.Builder data(byte[] bytes) {
    return Answer.newBuilder().setReach(service.moment()).setData(ByteString.copyFrom(bytes));
  }

  // ---- where things run

  void aside(Asked asked, Work work) {
    node.background(() -> asked.attempt(work));
  }

  /// As [#aside], for what may run users' code.
  private void onCalls(Asked asked, Work work) {
    node.calls().execute(() -> asked.attempt(work));
  }

  /// As [#aside], for what is done once, and cannot be found again in the log.
  private void once(Asked asked, Work work) {
    if (!isLost(asked)) aside(asked, work);
  }

  /// Refuses what an earlier server may have done already.
  private static boolean isLost(Asked asked) {
    if (asked.request.getSince() == 0) return false;
    asked.fail(
        new UnknownOutcome(
            "the server was restarted while this was asked; look whether it was done"));
    return true;
  }

  private interface OnObject {
    Answer.Builder answer(ObjectService.Container object) throws Throwable;
  }

  /// Asks what waits for the object, once that is open. It stays outside of the lane: calls that
  /// come behind it are begun at once, in the order in which the client made them on all objects.
  private void onObject(Asked asked, int number, OnObject work) {
    Container container = container(asked.session, number);
    container.lane().quick(() -> onCalls(asked, () -> work.answer(container.object())));
  }

  private static Container container(Session session, int number) {
    Container found = session.containers.get(number);
    if (found != null) return found;
    throw new IllegalArgumentException("container " + number + " is not open; open it before");
  }

  // ---- objects

  private void open(Asked asked, Open open) {
    Session session = asked.session;
    if (session.containers.size() >= node.config().containersMax()) {
      throw new LimitExceeded(
          "the session has "
              + session.containers.size()
              + " objects open (containersMax); close some");
    }
    var container = new Container(new Lane(node.calls()));
    session.containers.put(open.getContainer(), container);
    Runnable opening =
        () ->
            asked.attempt(() -> {
              try {
                container.opened(service.container(open.getType(), open.getKey().toByteArray()));
                return done();
              } catch (Throwable failed) {
                container.failed(failed);
                throw failed;
              }
            });
    if (service.isKnown(open.getType())) container.lane().quick(opening);
    else container.lane().slow(opening);
  }

  private void call(Asked asked, Call call) {
    Container container = container(asked.session, call.getContainer());
    boolean past = call.getPlaceCase() != Call.PlaceCase.PLACE_NOT_SET;
    if (past) {
      container.lane().slow(() -> asked.attempt(() -> past(container.object(), call)));
    } else if (asked.request.getSince() != 0) {
      container.lane().slow(() -> again(asked, container, call));
    } else {
      container.lane().quick(() -> start(asked, container, call));
    }
  }

  /// Begins a call; hands it on when it would take long.
  private void start(Asked asked, Container container, Call call) {
    try {
      var made = call(container.object(), call);
      if (service.isQuick(made)) run(asked, made);
      else container.lane().slow(() -> run(asked, made));
    } catch (RuntimeException | LinkageError | StackOverflowError refused) {
      asked.fail(refused);
    }
  }

  private void run(Asked asked, ObjectService.Call call) {
    stoa.store.Request request;
    try {
      asked.checkTime();
      request = service.begin(call, asked.timeLeft(), asked.id());
    } catch (VirtualMachineError beyond) {
      asked.fail(new Unavailable("the server failed: " + beyond, beyond));
      return;
    } catch (Throwable refused) {
      if (refused instanceof stoa.StoaException || refused instanceof IllegalArgumentException)
        asked.fail(refused);
      else asked.answer(answered(service.thrown(refused), 0, service.moment()));
      return;
    }
    request.whenDone(settled -> {
      try {
        if (settled.isMoved()) askWhole(asked, call, settled);
        else
          asked.answer(answered(service.encoded(settled), settled.generation(), settled.reach()));
      } catch (RuntimeException | LinkageError | StackOverflowError failed) {
        asked.fail(failed);
      }
    });
  }

  private void askWhole(Asked asked, ObjectService.Call call, stoa.store.Request moved) {
    onCalls(
        asked,
        () -> {
          ObjectService.Asked whole = service.askWhole(call, moved);
          return answered(whole.encoded(), whole.generation(), whole.reach());
        });
  }

  /// A call that came to an earlier server: it may be in the log.
  private void again(Asked asked, Container container, Call call) {
    ObjectService.Call made;
    try {
      made = call(container.object(), call);
      Earlier earlier =
          service.earlier(container.object(), asked.id(), asked.request.getSince() - 1);
      if (earlier != null) {
        stoa.store.Answer answer = earlier.answer();
        if (answer == null)
          throw new IllegalArgumentException("the request deleted the object when it came before");
        asked.answer(answered(answer.encoded(), earlier.generation(), earlier.counter()));
        return;
      }
    } catch (stoa.TooOld old) {
      asked.fail(new UnknownOutcome("what became of the call is too long ago to be known", old));
      return;
    } catch (RuntimeException | LinkageError | StackOverflowError failed) {
      asked.fail(failed);
      return;
    }
    run(asked, made);
  }

  private void delete(Asked asked, Delete delete) {
    Container container = container(asked.session, delete.getContainer());
    if (asked.request.getSince() == 0)
      container.lane().quick(() -> delete(asked, container, delete));
    else
      container
          .lane()
          .slow(() -> {
            try {
              Earlier earlier =
                  service.earlier(container.object(), asked.id(), asked.request.getSince() - 1);
              if (earlier != null) asked.answer(done(earlier.generation(), 0));
              else delete(asked, container, delete);
            } catch (stoa.TooOld old) {
              asked.fail(
                  new UnknownOutcome(
                      "what became of the deletion is too long ago to be known", old));
            } catch (RuntimeException | LinkageError | StackOverflowError failed) {
              asked.fail(failed);
            }
          });
  }

  private void delete(Asked asked, Container container, Delete delete) {
    try {
      asked.checkTime();
      service
          .delete(container.object(), existence(delete.getExistence()), asked.id())
          .whenDone(settled -> {
            try {
              asked.answer(done(settled.number(), 0).setReach(settled.reach()));
            } catch (RuntimeException | LinkageError | StackOverflowError failed) {
              asked.fail(failed);
            }
          });
    } catch (RuntimeException | LinkageError | StackOverflowError failed) {
      asked.fail(failed);
    }
  }

  private Answer.Builder past(ObjectService.Container object, Call call) throws Throwable {
    ObjectService.Call made = call(object, call);
    byte[] answer =
        call.getPlaceCase() == Call.PlaceCase.ADDRESS
            ? service.ask(made, address(call.getAddress()))
            : service.ask(made, call.getVersion());
    return answered(answer, 0, service.moment());
  }

  // ---- transactions

  private void inTransaction(Asked asked) {
    Session session = asked.session;
    Request request = asked.request;
    if (request.getWhatCase() == Request.WhatCase.BEGIN) {
      begin(asked, request.getBegin());
      return;
    }
    OpenTransaction open = session.transactions.get(request.getTransaction());
    if (open == null) {
      if (request.getWhatCase() == Request.WhatCase.END) {
        asked.answer(done());
        return;
      }
      throw new Unavailable(
          "transaction "
              + request.getTransaction()
              + " is not open, or was lost when the server was restarted; nothing was written unless its outcome says so");
    }
    open.lane().slow(() -> asked.attempt(() -> step(session, open, request)));
  }

  private void begin(Asked asked, Begin begin) {
    Session session = asked.session;
    if (begin.getTransaction() == 0)
      throw new IllegalArgumentException("a transaction has a number");
    if (session.transactions.size() >= node.config().transactionsMax()) {
      throw new LimitExceeded(
          "the session has "
              + session.transactions.size()
              + " transactions open (transactionsMax); end some");
    }
    var open = new OpenTransaction(new Lane(node.transactions()));
    if (session.transactions.putIfAbsent(begin.getTransaction(), open) != null) {
      throw new IllegalArgumentException(
          "transaction " + begin.getTransaction() + " is open already");
    }
    var mode =
        begin.getReadOnly()
            ? ObjectService.TransactionMode.READING
            : ObjectService.TransactionMode.CHANGING;
    Runnable beginning =
        () ->
            asked.attempt(() -> {
              try {
                long micros =
                    begin.getTimeMicros() <= 0
                        ? TIME_MICROS_MAX
                        : Math.min(begin.getTimeMicros(), TIME_MICROS_MAX);
                var begun =
                    service.transact(mode, micros, begin.hasAt() ? address(begin.getAt()) : null);
                open.begun(begun);
                if (session.isEnded()) open.abandon(); // which may have missed this one
                var done = Done.newBuilder().setAt(at(begun.at()));
                return Answer.newBuilder().setReach(begun.at().counter()).setDone(done);
              } catch (Throwable failed) {
                open.failed(failed);
                throw failed;
              }
            });
    // It sees what was done before it was said; to look into the past may take long.
    if (begin.hasAt()) open.lane().slow(beginning);
    else open.lane().quick(beginning);
  }

  private Answer.Builder step(Session session, OpenTransaction open, Request request)
      throws Throwable {
    return switch (request.getWhatCase()) {
      case CALL -> {
        Call call = request.getCall();
        ObjectService.Transacting transacting = open.transacting();
        byte[] answer =
            transacting.call(call(container(session, call.getContainer()).object(), call));
        var answered = Answered.newBuilder().setAnswer(ByteString.copyFrom(answer));
        Transaction.Id id = transacting.id();
        if (id != null) answered.setTransaction(id(id));
        yield Answer.newBuilder().setReach(transacting.at().counter()).setAnswered(answered);
      }
      case DELETE -> {
        Delete delete = request.getDelete();
        var object = container(session, delete.getContainer()).object();
        yield done(open.transacting().delete(object, existence(delete.getExistence())), 0);
      }
      case FIND -> {
        var object = container(session, request.getFind().getContainer()).object();
        yield done(open.transacting().generation(object), 0);
      }
      case ENTER -> {
        if (request.getEnter().getReadOnly()) open.transacting().enterToRead();
        else open.transacting().enter();
        yield done();
      }
      case LEAVE -> {
        if (request.getLeave().getKeep()) open.transacting().keep();
        else open.transacting().drop();
        yield done();
      }
      case COMMIT -> {
        yield commit(open.transacting());
      }
      case END -> {
        session.transactions.remove(request.getTransaction());
        open.close();
        yield done();
      }
      default ->
          throw new IllegalArgumentException(
              request.getWhatCase() + " takes no part in transactions");
    };
  }

  private Answer.Builder commit(ObjectService.Transacting transacting) {
    Transaction.Id id = transacting.id();
    var outcome = Outcome.newBuilder();
    if (id != null) outcome.setId(id(id));
    long reach = service.moment();
    try {
      LogAddress at = transacting.commit();
      outcome.setKind(Outcome.Kind.COMMITTED).setAt(at(at));
      reach = Math.max(service.moment(), at.counter());
    } catch (Aborted aborted) {
      outcome.setKind(Outcome.Kind.ABORTED).setCause(Failures.of(aborted, service));
    } catch (UnknownOutcome unknown) {
      outcome.setKind(Outcome.Kind.UNKNOWN).setCause(Failures.of(unknown, service));
    }
    return Answer.newBuilder().setReach(reach).setOutcome(outcome);
  }

  private Answer.Builder outcome(TransactionId told) {
    var id =
        new Transaction.Id(
            service.key(told.getType(), told.getKey().toByteArray()),
            told.getVersion(),
            new StreamId(told.getMarkHigh(), told.getMarkLow()));
    LogAddress found = service.outcome(id);
    var outcome = Outcome.newBuilder().setId(told);
    if (found == null) outcome.setKind(Outcome.Kind.NOT_COMMITTED);
    else outcome.setKind(Outcome.Kind.COMMITTED).setAt(at(found));
    return Answer.newBuilder().setReach(service.moment()).setOutcome(outcome);
  }

  // ---- the rest

  private Answer.Builder names(Names names) {
    if (names.getNumberCount() > NAMES_MAX) {
      throw new LimitExceeded(names.getNumberCount() + " names at once; NAMES_MAX is " + NAMES_MAX);
    }
    var are = NamesAre.newBuilder().addAllNumbers(service.naming().numbers(names.getNumberList()));
    are.setFrom(names.getFrom()).addAllNames(service.naming().from(names.getFrom(), NAMES_MAX));
    return Answer.newBuilder().setReach(service.moment()).setNames(are);
  }

  private Answer.Builder pin(Session session, Request request) {
    if (session.pins.size() >= node.config().containersMax()) {
      throw new LimitExceeded(
          "the session holds " + session.pins.size() + " snapshots; close some");
    }
    var pin = request.getPin();
    Pins.Pin made = service.pin(pin.hasAt() ? address(pin.getAt()) : null);
    Pins.Pin before = session.pins.put(pin.getPin(), made);
    if (before != null) before.close();
    if (session.isEnded()) {
      // It ended meanwhile, and may have missed this one.
      session.pins.remove(pin.getPin(), made);
      made.close();
      throw new stoa.Closed("the session has ended");
    }
    var address =
        pin.hasAt() ? address(pin.getAt()) : new LogAddress(service.epoch(), made.counter());
    return Answer.newBuilder()
        .setReach(made.counter())
        .setDone(Done.newBuilder().setAt(at(address)));
  }

  /// A page of a listing. The session keeps the rest of it; where that is gone, the listing is
  /// begun anew behind as many keys as were told.
  private Answer.Builder list(Session session, String type, ByteString page) {
    var listing = session.listing(page.toStringUtf8());
    if (listing == null) {
      int told = page.isEmpty() ? 0 : Listings.told(page.toStringUtf8());
      Iterator<byte[]> all = service.list(type);
      for (int i = 0; i < told && all.hasNext(); i++) all.next();
      listing = new Listings.Rest(all, told);
    }
    var keys = Keys.newBuilder();
    Iterator<byte[]> rest = listing.keys();
    while (rest.hasNext() && keys.getKeysCount() < KEYS_MAX) {
      keys.addKeys(ByteString.copyFrom(rest.next()));
    }
    if (rest.hasNext()) {
      var left = new Listings.Rest(rest, listing.told() + keys.getKeysCount());
      keys.setNext(ByteString.copyFromUtf8(session.keep(left, service.epoch())));
    }
    return Answer.newBuilder().setReach(service.moment()).setKeys(keys);
  }

  private Answer.Builder state(ObjectService.State state, long unless) {
    var told =
        State.newBuilder()
            .setVersion(state.version())
            .setGeneration(state.generation())
            .setFrom(state.from());
    byte @Nullable [] checkpoint = state.checkpoint();
    if (checkpoint != null) told.setCheckpoint(ByteString.copyFrom(checkpoint));
    told.setUnchanged(unless >= 0 && state.version() == unless && checkpoint == null);
    return Answer.newBuilder().setReach(state.from()).setState(told);
  }

  private Answer.Builder snapshots(List<Snapshot> all) {
    var told = new ArrayList<SnapshotIs>(all.size());
    for (Snapshot snapshot : all) {
      told.add(
          SnapshotIs.newBuilder()
              .setName(snapshot.name().orElse(""))
              .setAt(at(snapshot.address()))
              .build());
    }
    return Answer.newBuilder()
        .setReach(service.moment())
        .setSnapshots(Snapshots.newBuilder().addAllSnapshots(told));
  }

  // ---- forms

  private static ObjectService.Call call(ObjectService.Container object, Call call) {
    return new ObjectService.Call(
        object, existence(call.getExistence()), call.getCall().toByteArray());
  }

  private static Existence existence(stoa.wire.proto.Existence told) {
    byte[] opening = told.getHasOpening() ? told.getOpening().toByteArray() : null;
    return switch (told.getKind()) {
      case ANY -> new Existence.Any(opening);
      case ABSENT -> new Existence.Absent(opening);
      case GENERATION -> new Existence.Generation(told.getGeneration(), opening);
      case UNDELETED -> new Existence.Undeleted(opening);
      case UNRECOGNIZED ->
          throw new IllegalArgumentException(
              "an existence of a kind that this server does not know");
    };
  }

  private static Answer.Builder answered(byte[] answer, long generation, long reach) {
    var answered =
        Answered.newBuilder().setAnswer(ByteString.copyFrom(answer)).setGeneration(generation);
    return Answer.newBuilder().setReach(reach).setAnswered(answered);
  }

  static Answer.Builder done() {
    return Answer.newBuilder().setDone(Done.getDefaultInstance());
  }

  static Answer.Builder done(long number, long other) {
    return Answer.newBuilder().setDone(Done.newBuilder().setNumber(number).setOther(other));
  }

  private static LogAddress address(At at) {
    return new LogAddress(at.getEpoch(), at.getCounter());
  }

  private static At at(LogAddress address) {
    return At.newBuilder().setEpoch(address.epoch()).setCounter(address.counter()).build();
  }

  private static TransactionId id(Transaction.Id id) {
    return TransactionId.newBuilder()
        .setType(id.key().space())
        .setKey(ByteString.copyFrom(id.key().name()))
        .setVersion(id.tail())
        .setMarkHigh(id.mark().high())
        .setMarkLow(id.mark().low())
        .build();
  }
}
