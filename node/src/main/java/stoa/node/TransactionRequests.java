package stoa.node;

import com.google.protobuf.ByteString;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.objects.Errand;
import stoa.objects.ObjectService;
import stoa.objects.TransactionService;
import stoa.store.ordering.Coordinator;
import stoa.store.running.StoreTransaction;
import stoa.wire.MessageForms;
import stoa.wire.SlotMap;
import stoa.wire.StreamOperation;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Answered;
import stoa.wire.proto.Begin;
import stoa.wire.proto.Call;
import stoa.wire.proto.CommitAcross;
import stoa.wire.proto.Delete;
import stoa.wire.proto.Done;
import stoa.wire.proto.Outcome;
import stoa.wire.proto.Request;
import stoa.wire.proto.Stream;
import stoa.wire.proto.TransactionId;

/// Executes requests in transactions, whose bodies run at the clients. Thread-safe.
///
/// Requests in one transaction run in its lane, in the order of their arrival.
final class TransactionRequests {
  private final ServedGroup served;
  private final ObjectService service;

  TransactionRequests(ServedGroup served) {
    this.served = served;
    this.service = served.service();
  }

  /// Begins a request that names a transaction; waits for nothing.
  void begin(PendingRequest asked) {
    Session session = asked.session();
    Request request = asked.request();
    if (request.getWhatCase() == Request.WhatCase.BEGIN) {
      begin(asked, request.getBegin());
      return;
    }
    if (request.getWhatCase() == Request.WhatCase.END) {
      end(asked, session.transactions.remove(request.getTransaction()));
      return;
    }
    SessionTransaction open = session.transactions.get(request.getTransaction());
    if (open == null) {
      throw new Unavailable(
          "transaction "
              + request.getTransaction()
              + " is not open, or was lost when the server was restarted; nothing was written"
              + " unless its outcome says so");
    }
    if (request.getWhatCase() == Request.WhatCase.INTEND) {
      open.lane().slow(() -> intend(asked, open));
      return;
    }
    open.lane().slow(() -> asked.attempt(() -> step(asked, open)));
  }

  /// Declares the intent to run an aborted transaction again. The answer waits for other intents,
  /// and the thread does not: it may have to bring these to their ends.
  private static void intend(PendingRequest asked, SessionTransaction open) {
    var intend = asked.request().getIntend();
    var number = new CompletableFuture<@Nullable LongSupplier>();
    Runnable settled =
        () -> {
          var _ =
              number.thenAccept(said ->
                  open.lane()
                      .slow(() ->
                          asked.attempt(() -> Forms.done(said == null ? 0 : said.getAsLong()))));
        };
    try {
      LongSupplier declared =
          open.transacting().intend(intend.getMicros(), intend.getWaitMicros(), settled);
      number.complete(declared);
      if (declared == null) settled.run();
    } catch (Throwable failed) {
      asked.fail(failed);
    }
  }

  /// Ends a transaction after its requests in progress. It counts no more at once, since the client
  /// may begin the next one at once. Later trims wait for its end.
  private static void end(PendingRequest asked, @Nullable SessionTransaction open) {
    if (open == null) {
      asked.answer(Forms.done());
      return;
    }
    Runnable ending = asked.session().holdChanges.noted(() -> asked.letGo(open::close));
    open.lane().slow(ending);
  }

  /// Begins a transaction.
  void begin(PendingRequest asked, Begin begin) {
    Session session = asked.session();
    if (begin.getTransaction() == 0)
      throw new IllegalArgumentException("a transaction has a number");
    if (session.transactions.size() >= served.config().transactionsMax()) {
      throw new LimitExceeded(
          "the session has "
              + session.transactions.size()
              + " transactions open (transactionsMax); end some");
    }
    var open = new SessionTransaction(new Lane(session.threads.transactions()));
    if (session.transactions.putIfAbsent(begin.getTransaction(), open) != null) {
      throw new IllegalArgumentException(
          "transaction " + begin.getTransaction() + " is open already");
    }
    Runnable beginning = () -> asked.attempt(() -> begin(session, open, begin));
    // It sees everything before its beginning; reading the past may take long.
    if (begin.hasAt()) open.lane().slow(beginning);
    else open.lane().quick(beginning);
  }

  private Answer.Builder begin(Session session, SessionTransaction open, Begin begin) {
    try {
      var mode =
          begin.getReadOnly() ? TransactionService.Mode.READING : TransactionService.Mode.CHANGING;
      var limits =
          new TransactionService.Bounds(
              begin.getTimeMicros(), begin.getObjectsMax(), begin.getBytesMax());
      LogAddress at = begin.hasAt() ? MessageForms.at(begin.getAt()) : null;
      var begun = service.transactions().begin(mode, limits, at, session.id(), begin.getIntent());
      open.begun(begun);
      if (session.isEnded()) open.abandon(); // which may have missed this one
      return Forms.answer(begun.at().counter())
          .setDone(Done.newBuilder().setAt(MessageForms.at(begun.at())));
    } catch (Throwable failed) {
      open.failed(failed);
      throw failed;
    }
  }

  private Answer.Builder step(PendingRequest asked, SessionTransaction open) throws Throwable {
    Session session = asked.session();
    Request request = asked.request();
    return switch (request.getWhatCase()) {
      case CALL -> call(asked, open.transacting(), request.getCall());
      case DELETE -> {
        Delete delete = request.getDelete();
        var object = session.container(delete.getContainer()).object();
        yield Forms.done(
            open.transacting().delete(object, MessageForms.existence(delete.getExistence())));
      }
      case FIND -> {
        var object = session.container(request.getFind().getContainer()).object();
        yield Forms.done(open.transacting().generation(object));
      }
      case ENTER -> {
        if (request.getEnter().getReadOnly()) open.transacting().enterToRead();
        else open.transacting().enter();
        yield Forms.done();
      }
      case LEAVE -> {
        if (request.getLeave().getKeep()) open.transacting().keep();
        else open.transacting().drop();
        yield Forms.done();
      }
      case STREAM -> append(open.transacting(), request.getStream());
      case COMMIT -> commit(open.transacting());
      default ->
          throw new IllegalArgumentException(
              request.getWhatCase() + " takes no part in transactions");
    };
  }

  private Answer.Builder call(
      PendingRequest asked, TransactionService.Transacting transacting, Call call)
      throws Throwable {
    var container = asked.session().container(call.getContainer());
    ObjectService.Call made =
        asked.allowed(Forms.call(container.object(), call), transacting::generation);
    asked.traces(made);
    var callers =
        call.getCallersList().stream()
            .map(name -> service.keyOf(name.getType(), name.getKey().toByteArray()))
            .toList();
    var errands =
        call.getErrandsList().stream()
            .map(said ->
                new Errand.Answer(
                    Objects.checkIndex(said.getGroup(), SlotMap.GROUPS_MAX),
                    said.getAnswer().toByteArray()))
            .toList();
    Errand.Reply said = transacting.call(made, callers, errands);
    var answered =
        Answered.newBuilder().setObjects(transacting.objects()).setBytes(transacting.bytes());
    if (said.answer() != null) answered.setAnswer(ByteString.copyFrom(said.answer()));
    if (said.errand() != null) answered.setErrand(Forms.errand(said.errand()));
    StoreTransaction.Id id = transacting.id();
    if (id != null) answered.setTransaction(Forms.id(id));
    return Forms.answer(transacting.at().counter()).setAnswered(answered);
  }

  private static Answer.Builder append(TransactionService.Transacting transacting, Stream stream) {
    StreamOperation operation = StreamOperation.of(stream.getOperation());
    if (operation != StreamOperation.APPEND) {
      throw new IllegalArgumentException(operation + " on streams takes no part in transactions");
    }
    StreamCalls.append(stream.getArguments().toByteArray(), transacting::append);
    return Forms.done();
  }

  private Answer.Builder commit(TransactionService.Transacting transacting) {
    StoreTransaction.Id id = transacting.id();
    var outcome = Outcome.newBuilder();
    if (id != null) outcome.setId(Forms.id(id));
    long reach = service.moment();
    try {
      LogAddress at = transacting.commit();
      outcome.setKind(Outcome.Kind.COMMITTED).setAt(MessageForms.at(at));
      reach = Math.max(service.moment(), at.counter());
    } catch (Aborted aborted) {
      outcome.setKind(Outcome.Kind.ABORTED).setCause(FailureForm.of(aborted, service));
    } catch (UnknownOutcome unknown) {
      outcome.setKind(Outcome.Kind.UNKNOWN).setCause(FailureForm.of(unknown, service));
    }
    return Forms.answer(reach).setOutcome(outcome);
  }

  /// Commits a transaction over several groups.
  void commit(PendingRequest asked, CommitAcross across) {
    Coordinator coordinator = served.coordinator();
    if (coordinator == null) {
      throw new IllegalArgumentException("transactions over several groups are asked of group 0");
    }
    var parts = new TreeMap<Integer, Coordinator.Part>();
    for (CommitAcross.Branch branch : across.getBranchesList()) {
      parts.put(
          branch.getGroup(), new Coordinator.Part(branch.getSession(), branch.getTransaction()));
    }
    // The same when it is repeated, at another server as well.
    var id = new UUID(asked.session().id(), asked.request().getSequence());
    served.background(() -> asked.settle(() -> coordinator.commit(id, parts), this::across));
  }

  private Answer.Builder across(@Nullable LogAddress at, @Nullable Throwable failed) {
    var outcome = Outcome.newBuilder();
    if (at != null) {
      outcome.setKind(Outcome.Kind.COMMITTED).setAt(MessageForms.at(at));
      return Forms.answer(Math.max(service.moment(), at.counter())).setOutcome(outcome);
    }
    if (failed instanceof Aborted) {
      outcome.setKind(Outcome.Kind.ABORTED).setCause(FailureForm.of(failed, service));
      return Forms.answer(service.moment()).setOutcome(outcome);
    }
    return Forms.answer(service.moment())
        .setFailure(FailureForm.of(Objects.requireNonNull(failed), service));
  }

  /// Returns the outcome of a transaction. May take long.
  Answer.Builder outcome(TransactionId told) {
    LogAddress found = service.transactions().outcome(Forms.id(told, service));
    var outcome = Outcome.newBuilder().setId(told);
    if (found == null) outcome.setKind(Outcome.Kind.NOT_COMMITTED);
    else outcome.setKind(Outcome.Kind.COMMITTED).setAt(MessageForms.at(found));
    return Forms.answer(service.moment()).setOutcome(outcome);
  }
}
