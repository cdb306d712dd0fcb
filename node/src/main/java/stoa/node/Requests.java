package stoa.node;

import com.google.protobuf.ByteString;
import stoa.LimitExceeded;
import stoa.node.access.Caller;
import stoa.node.access.Permit;
import stoa.objects.ObjectService;
import stoa.wire.BlobOperation;
import stoa.wire.StreamOperation;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Blob;
import stoa.wire.proto.Names;
import stoa.wire.proto.NamesAre;
import stoa.wire.proto.Request;
import stoa.wire.proto.Stream;
import stoa.wire.proto.TypeNames;

/// Executes clients' requests. Thread-safe.
///
/// [#begin] waits for nothing: it begins calls, and gives long work to the lane of the object or
/// transaction, so that one client's requests on either run in order.
final class Requests {
  private static final int NAMES_MAX = 4_096;

  private final ServedGroup served;
  private final ObjectService service;
  private final ObjectRequests objects;
  private final ViewRequests views;
  private final TransactionRequests transactions;
  private final PastRequests past;
  private final KeyRequests keys;

  Requests(ServedGroup served) {
    this.served = served;
    this.service = served.service();
    this.objects = new ObjectRequests(served);
    this.views = new ViewRequests(service);
    this.transactions = new TransactionRequests(served);
    this.past = new PastRequests(served);
    this.keys = new KeyRequests(service);
  }

  /// Begins a request, if the roles of its client allow it; waits for nothing.
  void begin(Session session, Request request, Caller caller) {
    var asked = new PendingRequest(served, session, request, caller);
    try {
      if (!caller.mayAll()) {
        Permit permit = caller.permit(Needs.of(request, session));
        String refusal = permit.refusal();
        if (refusal != null) {
          asked.forbid(refusal);
          return;
        }
        asked.allow(permit);
      }
      if (request.getTransaction() != 0) transactions.begin(asked);
      else begin(asked, session, request);
    } catch (RuntimeException | LinkageError | StackOverflowError refused) {
      asked.fail(refused);
    }
  }

  private void begin(PendingRequest asked, Session session, Request request) {
    switch (request.getWhatCase()) {
      case OPEN -> objects.open(asked, request.getOpen());
      case CLOSE -> objects.close(asked, request.getClose());
      case CALL -> {
        if (PastRequests.isOfPast(request.getCall())) past.call(asked, request.getCall());
        else objects.call(asked, request.getCall());
      }
      case END_WAITING -> objects.endWaiting(asked, request.getEndWaiting());
      case DELETE -> objects.delete(asked, request.getDelete());
      case FIND ->
          asked.onObject(
              request.getFind().getContainer(), object -> Forms.done(service.generation(object)));
      case LIST_OBJECTS -> asked.onCalls(() -> objects.list(session, request.getListObjects()));
      case NAMES -> asked.aside(() -> names(request.getNames()));
      case TYPE_NAMES -> asked.onCalls(() -> use(request.getTypeNames()));

      case FOLLOW -> views.follow(asked, request.getFollow());
      case UNFOLLOW -> views.unfollow(asked, request.getUnfollow());
      case FETCH -> views.fetch(asked, request.getFetch());
      case FETCH_PART -> views.part(asked, request.getFetchPart());
      case CHECK ->
          asked.onObject(
              request.getCheck().getContainer(),
              object -> Forms.done(service.past().position(object)));

      case BEGIN -> transactions.begin(asked, request.getBegin());
      case OUTCOME_OF -> asked.onCalls(() -> transactions.outcome(request.getOutcomeOf().getId()));
      case COMMIT_ACROSS -> transactions.commit(asked, request.getCommitAcross());
      case ENTER, LEAVE, COMMIT, INTEND, END ->
          throw new IllegalArgumentException(request.getWhatCase() + " is said in a transaction");

      case TAKE_SNAPSHOT -> asked.once(() -> past.take(request.getTakeSnapshot().getName()));
      case FIND_SNAPSHOT -> asked.aside(() -> past.find(request.getFindSnapshot().getName()));
      case LIST_SNAPSHOTS -> asked.aside(past::all);
      case DELETE_SNAPSHOT -> asked.once(() -> past.delete(request.getDeleteSnapshot().getName()));
      case PIN -> past.pin(asked, request.getPin());
      case UNPIN -> past.unpin(asked, request.getUnpin());
      case BOUNDS ->
          asked.onObject(
              request.getBounds().getContainer(),
              object -> Forms.done(service.past().oldest(object), service.past().position(object)));
      case ENTRIES -> past.entries(asked, request.getEntries());
      case TRIM -> past.trim(asked, request.getTrim());

      case LISTEN -> keys.listen(asked, request.getListen());
      case UNLISTEN -> keys.unlisten(asked, request.getUnlisten());
      case HEARD -> {
        keys.heard(session, request.getHeard());
        asked.answer(Forms.done());
      }
      case KEY_PUT -> keys.put(asked, request.getKeyPut());
      case KEY_GET -> keys.get(asked, request.getKeyGet());

      case BLOB -> blob(asked, session, request.getBlob());
      case STREAM -> stream(asked, session, request.getStream());

      case GOODBYE ->
          asked.aside(() -> {
            served.registry().end(session);
            return Forms.done();
          });
      case WHAT_NOT_SET ->
          throw new IllegalArgumentException(
              "request " + request.getSequence() + " asks nothing that this server knows");
    }
  }

  // ---- names

  private Answer.Builder names(Names names) {
    if (names.getNumberCount() > NAMES_MAX) {
      throw new LimitExceeded(names.getNumberCount() + " names at once; NAMES_MAX is " + NAMES_MAX);
    }
    var are = NamesAre.newBuilder().addAllNumbers(service.naming().numbers(names.getNumberList()));
    are.setFrom(names.getFrom()).addAllNames(service.naming().from(names.getFrom(), NAMES_MAX));
    return Forms.answer(service.moment()).setNames(are);
  }

  private Answer.Builder use(TypeNames names) {
    if (names.getAdmitted()) service.naming().admit(names.getClassName());
    else service.naming().use(names.getClassName());
    return Forms.done();
  }

  // ---- blobs and streams

  private void blob(PendingRequest asked, Session session, Blob blob) {
    BlobOperation operation = BlobOperation.of(blob.getOperation());
    if (!operation.isRepeatable() && asked.isLost()) return;
    Runnable work =
        () ->
            asked.start(() ->
                session.blobCalls.start(
                    service,
                    blob.getKey().toByteArray(),
                    blob.getGeneration(),
                    operation,
                    blob.getArguments().toByteArray()));
    if (operation.isRead()) session.threads.reads().execute(work);
    else session.threads.blobs().slow(blob.getKey(), work);
  }

  private void stream(PendingRequest asked, Session session, Stream stream) {
    StreamOperation operation = StreamOperation.of(stream.getOperation());
    ByteString arguments = stream.getArguments();
    if (operation == StreamOperation.APPEND) {
      append(asked, session, arguments.toByteArray());
    } else {
      PendingRequest.Work work =
          () ->
              Forms.data(
                  StreamCalls.answer(service, operation, arguments.toByteArray()),
                  service.moment());
      if (operation.isFollow()) asked.aside(work); // it waits for most of its time
      else session.threads.reads().execute(() -> asked.attempt(work));
    }
  }

  /// Begins an append here, so that one thread's appends keep their order. Looks for it first when
  /// an earlier server may have logged it.
  private void append(PendingRequest asked, Session session, byte[] arguments) {
    Lane lane = session.threads.appends();
    if (asked.isAgain()) {
      lane.slow(() ->
          asked.start(() ->
              StreamCalls.appendAgain(service.streams(), arguments, asked.id(), asked.since())));
    } else {
      lane.quick(
          () -> asked.start(() -> StreamCalls.append(service.streams(), arguments, asked.id())));
    }
  }
}
