package stoa.client;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import stoa.History;
import stoa.LogAddress;
import stoa.Ref;
import stoa.base.Decoder;
import stoa.base.Key;
import stoa.front.CallNumbers;
import stoa.front.CallRecorder;
import stoa.front.Place;
import stoa.front.PlacedState;
import stoa.front.Refusals;
import stoa.front.Service;
import stoa.front.SharedCall;
import stoa.front.SharedPlaced;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.migration.Member;
import stoa.wire.MessageForms;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Bounds;
import stoa.wire.proto.Entries;
import stoa.wire.proto.Find;
import stoa.wire.proto.Request;
import stoa.wire.proto.Trim;

/// An object of a server, as the target of calls. Thread-safe.
final class RemoteObject implements Service.Target {
  private final RemoteService service;
  private final int group;
  private final SharedType shared;
  private final Key key;
  private volatile @Nullable Container known;

  // Null until the object's part is needed, when another part has named the object.
  private volatile @Nullable RemoteType type;

  /// @param group the group that keeps the object
  /// @param type the type in that group's part; null when that need not be open yet
  RemoteObject(
      RemoteService service, int group, SharedType shared, @Nullable RemoteType type, Key key) {
    this.service = service;
    this.group = group;
    this.shared = shared;
    this.type = type;
    this.key = key;
  }

  /// Returns the group that keeps the object.
  int group() {
    return group;
  }

  @Override
  public SharedType shared() {
    return shared;
  }

  @Override
  public Key key() {
    return key;
  }

  @Override
  public Marshaller marshaller() {
    return part().marshaller();
  }

  /// Returns the object's part of the store, and opens it if necessary.
  RemotePart part() {
    return type().part();
  }

  /// Returns the type in the object's part, and opens the part if necessary.
  RemoteType type() {
    RemoteType found = type;
    if (found == null) {
      found = service.part(group).types().of(shared.face());
      type = found;
    }
    return found;
  }

  /// Returns the object's container, in use.
  Container container() {
    Container before = known;
    Container now = part().conversation().containers().use(key, before);
    if (now != before) known = now;
    return now;
  }

  /// Returns the time limit of a call, 0 for the server's own limit.
  ///
  /// @param most the limit of all calls
  static int timeMillis(SharedCall to, int most) {
    Duration limit = to.timeMax();
    if (limit == null) return most;
    boolean fits = limit.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) < 0;
    int millis = fits ? Math.max(1, (int) limit.toMillis()) : Integer.MAX_VALUE;
    return most == 0 ? millis : Math.min(millis, most);
  }

  // ---- calls

  private Outgoing outgoing(SharedCall to, SharedMethod method, @Nullable Object[] arguments) {
    byte[] call = type().call(method, arguments);
    RequestCodec requests = part().requests();
    return method.awaits()
        ? requests.waitingCall(this, to, call)
        : requests.call(this, to, call, to.existence(), method.kind().isReading());
  }

  @Override
  public @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    return answer(to, part().conversation().ask(outgoing(to, method, arguments)));
  }

  @Override
  public Runnable begin(
      SharedCall to,
      SharedMethod method,
      @Nullable Object[] arguments,
      CallRecorder.Settled settled) {
    Conversation conversation = part().conversation();
    Outgoing call = outgoing(to, method, arguments);
    conversation.begin(call, done -> settled.answer(() -> answer(to, done.answer())));
    return () -> conversation.endWaiting(call);
  }

  /// Returns the content of an answer to a call.
  private @Nullable Object answer(SharedCall to, Answer answer) throws Throwable {
    RequestCodec requests = part().requests();
    var answered = requests.answered(answer, known);
    to.bind(answered.getGeneration());
    return requests.value(answered);
  }

  @Override
  public void create(SharedCall to) throws Throwable {
    var made = part().requests().call(this, to, CallNumbers.creation(), to.absence(), false);
    var _ = answer(to, part().conversation().ask(made));
  }

  @Override
  public void delete(SharedCall to) {
    if (shared.isPlaced()) Member.refuseInside("delete " + key);
    Container container = container();
    Request.Builder request = part().requests().delete(container, to);
    var _ = part().ask(Outgoing.on(container, request, Outgoing.Recovery.LOOKED_UP, 16));
    if (shared.isPlaced()) service.migrating().deleted(new SharedPlaced(to));
  }

  @Override
  public long generation() {
    return ask(number -> Request.newBuilder().setFind(Find.newBuilder().setContainer(number)))
        .getDone()
        .getNumber();
  }

  /// Makes a request that may execute twice.
  private Answer ask(IntFunction<Request.Builder> request) {
    Container container = container();
    return part()
        .ask(Outgoing.on(container, request.apply(container.number()), Outgoing.Recovery.READ, 32));
  }

  @Override
  public void requireTree() {
    if (!shared.isPlaced() && group != 0) throw Refusals.group(key, group);
  }

  // ---- views

  @Override
  public Service.Copy follow() {
    return part().localCopies().of(key);
  }

  @Override
  public Service.Past at(LogAddress address) {
    return new Then(0, address);
  }

  @Override
  public Service.Past past(long version) {
    long newest = version();
    if (version < 0 || version > newest) {
      throw new IllegalArgumentException(
          "version " + version + " of " + key + "; there are versions 0 to " + newest);
    }
    return new Then(version, null);
  }

  /// A past state of an object: at one of its versions, or at a place in the log.
  private record Then(long version, @Nullable LogAddress address) implements Service.Past {
    @Override
    public @Nullable Object ask(
        SharedCall to, SharedMethod method, @Nullable Object[] arguments, @Nullable Place place)
        throws Throwable {
      RemoteObject object = (RemoteObject) to.target();
      byte[] call = object.type().call(method, arguments);
      RequestCodec requests = object.part().requests();
      Outgoing outgoing =
          requests.callThen(
              object,
              to,
              call,
              to.existenceThen(),
              then -> {
                if (address == null) then.setVersion(version);
                else then.setAddress(MessageForms.at(address));
              });
      var answered =
          requests.answered(object.part().conversation().ask(outgoing), outgoing.container());
      return place == null
          ? requests.value(answered)
          : place.seen(RequestCodec.travelling(answered));
    }
  }

  // ---- history

  private stoa.wire.proto.Done bounds() {
    return ask(number -> Request.newBuilder().setBounds(Bounds.newBuilder().setContainer(number)))
        .getDone();
  }

  @Override
  public long version() {
    return bounds().getOther();
  }

  @Override
  public long oldest() {
    var bounds = bounds();
    return bounds.getNumber() > 0 ? bounds.getNumber() : Math.min(1, bounds.getOther());
  }

  @Override
  public long trim(long before) {
    part().conversation().check();
    service.holdEnds().awaitOthers(group, service.limits().callTimeMax().toMillis());
    return ask(number ->
            Request.newBuilder().setTrim(Trim.newBuilder().setContainer(number).setBefore(before)))
        .getDone()
        .getNumber();
  }

  @Override
  public List<History.Entry> entries(long from, long to) {
    return ask(number ->
            Request.newBuilder()
                .setEntries(Entries.newBuilder().setContainer(number).setFrom(from).setTo(to)))
        .getEntries()
        .getEntriesList()
        .stream()
        .map(this::entry)
        .toList();
  }

  private History.Entry entry(stoa.wire.proto.Entry entry) {
    Instant time = Instant.EPOCH.plus(entry.getNowMicros(), ChronoUnit.MICROS);
    return new History.Entry(entry.getVersion(), MessageForms.at(entry.getAt()), time, what(entry));
  }

  private History.Event what(stoa.wire.proto.Entry entry) {
    return switch (entry.getKind()) {
      case PUT -> called(entry.getValue().toByteArray());
      case ANSWERED ->
          new History.Event.Answered(
              entry.getCall(),
              new Ref<>(
                  entry.getType(), Keys.decode(entry.getKey().toByteArray(), service.loader())));
      case TAKEN_BACK -> new History.Event.Cancelled(entry.getCall(), entry.getReason());
      case STOOD -> new History.Event.Completed(entry.getCall());
      case DELETED, UNRECOGNIZED -> new History.Event.Deleted();
    };
  }

  private History.Event called(byte[] value) {
    var in = new Decoder(value);
    String id = type().called(in);
    if (id == null) return PlacedState.event(value);
    SharedMethod method = part().types().method(type(), id);
    var arguments = marshaller().arguments(method, value, in.position(), value.length);
    return new History.Event.Called(method.id(), Arrays.asList(arguments));
  }
}
