package stoa.client;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import stoa.History;
import stoa.Ref;
import stoa.base.Decoder;
import stoa.front.PlacedState;
import stoa.front.Sharing;
import stoa.front.proxy.Proxies;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Bounds;
import stoa.wire.proto.Entries;
import stoa.wire.proto.Request;
import stoa.wire.proto.Trim;

/// The past of one object. Thread-safe.
final class RemoteHistory<T> implements History<T> {
  private final RemoteStoa stoa;
  private final T proxy;
  private final RemoteInvoker live;

  RemoteHistory(RemoteStoa stoa, T proxy, RemoteInvoker live) {
    this.stoa = stoa;
    this.proxy = proxy;
    this.live = live;
  }

  private Answer ask(
      java.util.function.Function<Integer, Request.Builder> request, Outgoing.Recovery recovery) {
    Container container = live.container();
    var outgoing = Outgoing.on(container, request.apply(container.number()), recovery, 32);
    return stoa.requests().sound(stoa.conversation().ask(outgoing));
  }

  private stoa.wire.proto.Done bounds() {
    return ask(
            number -> Request.newBuilder().setBounds(Bounds.newBuilder().setContainer(number)),
            Outgoing.Recovery.READ)
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
    return ask(
            number ->
                Request.newBuilder()
                    .setTrim(Trim.newBuilder().setContainer(number).setBefore(before)),
            Outgoing.Recovery.READ)
        .getDone()
        .getNumber();
  }

  @Override
  public T at(long version) {
    long newest = version();
    if (version < 0 || version > newest) {
      throw new IllegalArgumentException(
          "version " + version + " of " + live.key() + "; there are versions 0 to " + newest);
    }
    var then =
        new RemoteInvoker(
            live.type(),
            live.key(),
            Sharing.proxied(proxy).constructorArguments(),
            RemoteInvoker.Source.ASKED,
            0);
    var past = new RemotePast(then, version, null);
    return Sharing.through(proxy, shared -> Proxies.redirect(shared, past));
  }

  @Override
  public List<Entry> entries(long from, long to) {
    return ask(
            number ->
                Request.newBuilder()
                    .setEntries(Entries.newBuilder().setContainer(number).setFrom(from).setTo(to)),
            Outgoing.Recovery.READ)
        .getEntries()
        .getEntriesList()
        .stream()
        .map(this::entry)
        .toList();
  }

  private Entry entry(stoa.wire.proto.Entry entry) {
    Instant time = Instant.EPOCH.plus(entry.getNowMicros(), ChronoUnit.MICROS);
    return new Entry(entry.getVersion(), Requests.at(entry.getAt()), time, what(entry));
  }

  private Event what(stoa.wire.proto.Entry entry) {
    return switch (entry.getKind()) {
      case PUT -> called(entry.getValue().toByteArray());
      case ANSWERED ->
          new Event.Answered(
              entry.getCall(),
              new Ref<>(entry.getType(), Keys.decode(entry.getKey().toByteArray(), stoa.loader())));
      case TAKEN_BACK -> new Event.Cancelled(entry.getCall(), entry.getReason());
      case STOOD -> new Event.Completed(entry.getCall());
      case DELETED, UNRECOGNIZED -> new Event.Deleted();
    };
  }

  private Event called(byte[] value) {
    var in = new Decoder(value);
    String id = live.type().called(in);
    if (id == null) return PlacedState.event(value);
    SharedMethod method = stoa.types().method(live.type(), id);
    var arguments = stoa.marshaller().arguments(method, value, in.position(), value.length);
    return new Event.Called(method.id(), Arrays.asList(arguments));
  }
}
