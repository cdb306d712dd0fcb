package stoa.node;

import static stoa.node.access.Role.CALL;
import static stoa.node.access.Role.CREATE;
import static stoa.node.access.Role.DEPLOY;
import static stoa.node.access.Role.MEMBER;
import static stoa.node.access.Role.OPERATE;
import static stoa.node.access.Role.READ;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Keep;
import stoa.front.SharedKeys;
import stoa.front.SharedStoa;
import stoa.node.access.Need;
import stoa.node.access.Role;
import stoa.spi.Collections;
import stoa.wire.BlobOperation;
import stoa.wire.Rpc;
import stoa.wire.StreamOperation;
import stoa.wire.proto.AcceptRequest;
import stoa.wire.proto.Call;
import stoa.wire.proto.ClassFilesRequest;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.Existence;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.Request;
import stoa.wire.proto.RetainRequest;

/// The table of all requests of clients, with the role that each needs. Stateless.
///
/// Each switch names every case: a new request does not compile without its need.
final class Needs {
  /// The word for the key-value store, in place of a type.
  static final String VALUES = "stoa.Values";

  /// The roles of a process of the tree, which runs the objects itself. It needs them for all
  /// types, or takes part as a leaf, with objects of the types for which it has them.
  static final List<Role> OF_TREE = List.of(CALL, CREATE);

  private Needs() {}

  /// Returns the need of a method of the server.
  ///
  /// @param message its first message
  static Need of(Rpc rpc, Object message) {
    return switch (rpc) {
      // Each request of a connection has a need of its own.
      case CONVERSE, WHERE, CHALLENGE, VERSIONS -> Need.NONE;
      case STATUS -> Need.of(READ);
      case CANCEL, DRAIN, REPLICATE, BACK_UP, READ_SEGMENT -> Need.of(OPERATE);
      case JOIN -> Need.of(MEMBER);
      case ACCEPT -> accept((AcceptRequest) message);
      case CLASS_FILES -> of(READ, ((ClassFilesRequest) message).getType());
      case DEPLOY -> deploy((DeployPart) message);
      case LOOK -> look((LookRequest) message);
      case RETAIN -> retain((RetainRequest) message);
      case TREE -> new Need.All(OF_TREE.stream().map(Need::of).toList());
    };
  }

  /// Rules concern the whole store, a release one type.
  private static Need retain(RetainRequest asked) {
    if (asked.getRulesCount() > 0) return Need.of(OPERATE);
    return asked.hasRelease() ? of(OPERATE, asked.getRelease().getType()) : Need.of(READ);
  }

  private static Need accept(AcceptRequest asked) {
    int end = asked.getObject().indexOf('[');
    return asked.getAll() || end < 0
        ? Need.of(OPERATE)
        : of(OPERATE, asked.getObject().substring(0, end));
  }

  private static Need deploy(DeployPart first) {
    if (first.getTypesCount() == 0) return Need.of(DEPLOY);
    var needs = new ArrayList<Need>();
    for (String type : first.getTypesList()) needs.add(of(DEPLOY, type));
    return new Need.All(needs);
  }

  private static Need look(LookRequest asked) {
    return switch (asked.getWhatCase()) {
      case TYPES, USE -> Need.of(READ);
      case AUDIT -> Need.of(OPERATE);
      case OBJECTS -> of(READ, asked.getObjects().getType());
      case STATE -> of(READ, asked.getState().getType());
      case HISTORY -> of(READ, asked.getHistory().getType());
      case WHAT_NOT_SET -> Need.NONE;
    };
  }

  /// Returns the need of a request in a connection.
  ///
  /// @param session has the objects that the client has opened
  static Need of(Request request, Session session) {
    return switch (request.getWhatCase()) {
      case OPEN, CLOSE, NAMES, TYPE_NAMES, END_WAITING -> Need.NONE;
      case CALL -> call(request.getCall(), session);
      case DELETE -> ofObject(CREATE, request.getDelete().getContainer(), session);
      case FIND -> ofObject(READ, request.getFind().getContainer(), session);
      case LIST_OBJECTS -> of(READ, request.getListObjects().getType());

      // A transaction reads and changes by its calls, which have needs of their own.
      case BEGIN, ENTER, LEAVE, COMMIT, INTEND, END, OUTCOME_OF, COMMIT_ACROSS -> Need.NONE;

      case FOLLOW -> ofObject(READ, request.getFollow().getContainer(), session);
      case FETCH -> ofObject(READ, request.getFetch().getContainer(), session);
      case FETCH_PART -> ofObject(READ, request.getFetchPart().getContainer(), session);
      case CHECK -> ofObject(READ, request.getCheck().getContainer(), session);
      case UNFOLLOW -> Need.NONE;

      case TAKE_SNAPSHOT, DELETE_SNAPSHOT -> Need.of(CALL);
      case FIND_SNAPSHOT, LIST_SNAPSHOTS, PIN, UNPIN -> Need.NONE;
      case BOUNDS -> ofObject(READ, request.getBounds().getContainer(), session);
      case ENTRIES -> ofObject(READ, request.getEntries().getContainer(), session);
      case TRIM -> ofObject(CREATE, request.getTrim().getContainer(), session);

      case BLOB -> of(blob(request.getBlob().getOperation()), SharedStoa.BLOBS);
      case STREAM -> stream(request.getStream().getOperation());

      case LISTEN, KEY_PUT -> of(CALL, VALUES);
      case KEY_GET -> of(READ, VALUES);
      case UNLISTEN, HEARD -> Need.NONE;

      case GOODBYE, WHAT_NOT_SET -> Need.NONE;
    };
  }

  private static Need ofObject(Role role, int container, Session session) {
    OpenObject open = session.containers.get(container);
    return open == null ? Need.NONE : of(role, open.type()); // refused as not open
  }

  private static Need of(Role role, String type) {
    return Need.of(role, type.equals(SharedKeys.SPACE) ? VALUES : type);
  }

  private static Need call(Call call, Session session) {
    OpenObject open = session.containers.get(call.getContainer());
    if (open == null) return Need.NONE; // refused as not open
    if (PastRequests.isOfPast(call)) return of(READ, open.type());
    Existence.Kind expected = call.getExistence().getKind();
    boolean creates = call.getCall().size() == 1 && call.getCall().byteAt(0) == 0;
    if (creates || expected == Existence.Kind.ABSENT) return of(CREATE, open.type());
    // These read and call objects of every type on behalf of their caller.
    @Nullable String type = Collections.OWN_TYPES.contains(open.type()) ? null : open.type();
    return new Need.OfCall(type, expected != Existence.Kind.GENERATION);
  }

  private static Role blob(int number) {
    return switch (BlobOperation.of(number)) {
      case CREATE, DELETE -> CREATE;
      case GENERATION,
          VERSION,
          VERSIONS,
          SIZE,
          READ,
          ATTRIBUTE,
          ATTRIBUTES,
          HISTORY,
          SNAPSHOTS,
          AT ->
          READ;
      case WRITE,
          TRUNCATE,
          SET_ATTRIBUTE,
          REMOVE_ATTRIBUTE,
          SNAPSHOT,
          RELEASE,
          BEGIN,
          BEGIN_VERSION,
          SKIP,
          PART,
          PART_TRUNCATE,
          PART_ATTRIBUTE,
          PART_REMOVE_ATTRIBUTE,
          COMMIT,
          CLOSE ->
          CALL;
    };
  }

  /// Reading by addresses of the log shows the entries of all objects, and so does the stream of an
  /// object.
  private static Need stream(int number) {
    return switch (StreamOperation.of(number)) {
      case APPEND, PLACES -> of(CALL, Keep.STREAMS);
      case TAIL, HAS -> Need.NONE;
      case READ_LOG, SCAN_LOG, READ, SCAN, CHECK, OLDEST, FOLLOW, FOLLOW_LOG -> Need.of(READ);
      case CHANGES, FOLLOW_CHANGES, PRESENT, SUBSCRIPTIONS -> Need.of(READ);
      case SUBSCRIBE, ACKNOWLEDGE, UNSUBSCRIBE -> Need.of(CALL);
      case TRIM -> Need.of(CREATE);
      case FILL_HOLE -> Need.of(CALL);
    };
  }
}
