package stoa.client;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.History;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.Ref;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.ChangeQuery;
import stoa.front.ChangeSet;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedState;
import stoa.front.Service;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.wire.StreamForms;
import stoa.wire.StreamOperation;

/// The port to the changes of the objects of all parts of a store. Thread-safe.
final class RemoteChanges implements Service.ChangeLog {
  // As in stoa.objects.ChangeService and docs/wire.md.
  private static final int PUT = 1;
  private static final int CALLED = 2;
  private static final int DELETED = 3;
  private static final int CREATES = 1;
  private static final int ANSWER = 2;
  private static final int BEFORE = 4;
  private static final int AFTER = 8;

  private final RemoteService service;

  RemoteChanges(RemoteService service) {
    this.service = service;
  }

  private List<RemotePart> parts() {
    var parts = new ArrayList<RemotePart>();
    for (int group = 0; group < service.count(); group++) parts.add(service.part(group));
    return parts;
  }

  @Override
  public String typeOf(Class<?> face) {
    String name = "";
    for (RemotePart part : parts()) name = part.types().of(face).shared().name();
    return name;
  }

  @Override
  public Service.Tail<ChangeSet> follow(ChangeQuery query, LogAddress from) {
    var sources = parts().stream().map(part -> new Log(part, query)).toList();
    if (sources.size() > 1) {
      return new MergedTail<>(service.first(), new MergedLog<>(sources, from));
    }
    Log log = sources.getFirst();
    return new RemoteTail<>(
        log.part,
        new RemoteTail.Source<>() {
          private LogAddress next = from;
          private @Nullable LogAddress level;

          @Override
          public List<ChangeSet> read(int waitMillis) {
            Decoder in = log.later(next, waitMillis).join();
            List<ChangeSet> found = log.contents(in);
            next = StreamForms.log(in);
            LogAddress told = MergedLog.level(in);
            if (told != null) level = told;
            return found;
          }

          @Override
          public @Nullable LogAddress level() {
            return level;
          }
        });
  }

  /// The questions about the changes of one part.
  private record Log(RemotePart part, ChangeQuery query) implements MergedLog.Source<ChangeSet> {
    @Override
    public RemoteStreams.PendingAnswer later(LogAddress from, int waitMillis) {
      var out = StreamForms.log(new Encoder(96), from).varint(RemoteStreams.PAGE_BYTES);
      query.write(out.varint(waitMillis));
      return part.streams().begin(StreamOperation.FOLLOW_CHANGES, out);
    }

    @Override
    public RemoteStreams.PendingAnswer page(LogAddress from, LogAddress to) {
      var out = StreamForms.log(StreamForms.log(new Encoder(96), from), to);
      query.write(out.varint(RemoteStreams.PAGE_BYTES));
      return part.streams().begin(StreamOperation.CHANGES, out);
    }

    @Override
    public List<ChangeSet> contents(Decoder in) {
      var found = new ArrayList<ChangeSet>();
      for (int left = in.count(); left > 0; left--) {
        LogAddress address = StreamForms.log(in);
        var changes = new ArrayList<ChangeSet.One>();
        for (int more = in.count(); more > 0; more--) {
          Told one = Told.read(in, part, address);
          if (query.hasKey().test(one.key)) changes.add(one);
        }
        if (!changes.isEmpty()) found.add(new ChangeSet(address, changes));
      }
      return found;
    }

    @Override
    public LogAddress address(ChangeSet content) {
      return content.address();
    }

    @Override
    public ChangeSet joined(List<ChangeSet> parts) {
      return ChangeSet.joined(parts);
    }
  }

  /// A change as a server tells it.
  ///
  /// @param type the stored name of the object's type
  /// @param key the encoded key
  /// @param call the put, for [#PUT]
  /// @param method the method, for [#CALLED]
  /// @param arguments the encoded arguments, for [#CALLED]
  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  private record Told(
      RemotePart part,
      LogAddress address,
      int kind,
      boolean creates,
      String type,
      byte[] key,
      long version,
      long micros,
      byte[] call,
      String method,
      List<byte[]> arguments,
      byte @Nullable [] answer,
      byte @Nullable [] stateBefore,
      byte @Nullable [] stateAfter)
      implements ChangeSet.One {
    private static Told read(Decoder in, RemotePart part, LogAddress address) {
      int kind = in.u8();
      int flags = in.u8();
      String type = in.text();
      byte[] key = in.sized();
      long version = in.varint();
      long micros = in.varint();
      byte[] call = kind == PUT ? in.sized() : new byte[0];
      String method = kind == CALLED ? in.text() : "";
      var arguments = new ArrayList<byte[]>();
      if (kind == CALLED) {
        for (int left = in.count(); left > 0; left--) arguments.add(in.sized());
      }
      return new Told(
          part,
          address,
          kind,
          (flags & CREATES) != 0,
          type,
          key,
          version,
          micros,
          call,
          method,
          arguments,
          (flags & ANSWER) == 0 ? null : in.sized(),
          (flags & BEFORE) == 0 ? null : in.sized(),
          (flags & AFTER) == 0 ? null : in.sized());
    }

    @Override
    public Change<?> at(int index, int size) {
      Instant time = Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
      var ref = new Ref<>(type, Keys.decode(key, part.service().loader()));
      var at = new Change.At(ref, version, address, time, index, size);
      Object before = state(stateBefore);
      Object after = state(stateAfter);
      return switch (kind) {
        case PUT -> put(at, before, after);
        case CALLED -> {
          var decoded = new ArrayList<@Nullable Object>();
          for (byte[] argument : arguments) decoded.add(part.marshaller().value(argument));
          yield new Change.Called<>(at, creates, method, decoded, outcome(), before, after);
        }
        case DELETED -> new Change.Deleted<>(at, before);
        default -> {
          if (after == null) throw new NotShareable(ref + " has no state");
          yield new Change.Present<>(at, after);
        }
      };
    }

    private Change<?> put(Change.At at, @Nullable Object before, @Nullable Object after) {
      RemoteType known = part.types().named(type);
      var in = new Decoder(call);
      String id = known.called(in);
      if (id == null) {
        return PlacedState.event(call) instanceof History.Event.Changed
            ? new Change.Changed<>(at, before, after)
            : new Change.Created<>(at, after);
      }
      SharedMethod called = part.types().method(known, id);
      @Nullable Object[] values =
          part.marshaller().arguments(called, call, in.position(), call.length);
      return new Change.Called<>(at, creates, id, Arrays.asList(values), outcome(), before, after);
    }

    private Change.Outcome outcome() {
      byte[] encoded = answer;
      if (encoded == null) return new Change.Outcome.NotAsked();
      return encoded[0] == ObjectAnswer.THREW
          ? new Change.Outcome.Threw(part.marshaller().thrown(encoded, 1, encoded.length))
          : new Change.Outcome.Returned(part.marshaller().value(encoded, 1, encoded.length));
    }

    private @Nullable Object state(byte @Nullable [] state) {
      if (state == null) return null;
      return part.marshaller().state(part.types().named(type).shared(), state);
    }
  }

  // ---- subscriptions

  private Decoder ask(StreamOperation operation, Encoder arguments) {
    return service.first().streams().begin(operation, arguments).join();
  }

  @Override
  public Service.Subscribed subscribe(String name, long ageSecondsMax) {
    var out = new Encoder(name.length() + 16).text(name).varint(ageSecondsMax);
    return subscribed(ask(StreamOperation.SUBSCRIBE, out));
  }

  private static Service.Subscribed subscribed(Decoder in) {
    return new Service.Subscribed(in.text(), StreamForms.log(in), in.varint());
  }

  @Override
  public void acknowledge(String name, LogAddress position) {
    var out = StreamForms.log(new Encoder(name.length() + 32).text(name), position);
    var _ = ask(StreamOperation.ACKNOWLEDGE, out);
  }

  @Override
  public List<Service.Subscribed> subscriptions() {
    Decoder in = ask(StreamOperation.SUBSCRIPTIONS, new Encoder(0));
    var all = new ArrayList<Service.Subscribed>();
    for (int left = in.count(); left > 0; left--) all.add(subscribed(in));
    return all;
  }

  @Override
  public boolean unsubscribe(String name) {
    var out = new Encoder(name.length() + 8).text(name);
    return ask(StreamOperation.UNSUBSCRIBE, out).u8() == 1;
  }

  // ---- the present

  @Override
  public Iterator<ChangeSet.One> present(ChangeQuery query, LogAddress at) {
    return new Present(query, at);
  }

  /// The objects that are present at a log address, one part after the other.
  private final class Present implements Iterator<ChangeSet.One> {
    private final ChangeQuery query;
    private final LogAddress at;
    private final Iterator<RemotePart> parts = parts().iterator();
    private Iterator<Told> page = List.<Told>of().iterator();
    private @Nullable RemotePart part;
    private String type = "";
    private long from = 1;

    private Present(ChangeQuery query, LogAddress at) {
      this.query = query;
      this.at = at;
    }

    @Override
    public boolean hasNext() {
      while (!page.hasNext()) {
        RemotePart now = part;
        if (now == null) {
          if (!parts.hasNext()) return false;
          now = parts.next();
          part = now;
          type = "";
          from = 1;
        }
        page = fetch(now).iterator();
      }
      return true;
    }

    private List<Told> fetch(RemotePart now) {
      var out = StreamForms.log(new Encoder(96), at).text(type).varint(from);
      query.write(out.varint(RemoteStreams.PAGE_BYTES));
      Decoder in = now.streams().begin(StreamOperation.PRESENT, out).join();
      var told = new ArrayList<Told>();
      for (int left = in.count(); left > 0; left--) {
        Told one = Told.read(in, now, at);
        if (query.hasKey().test(one.key)) told.add(one);
      }
      boolean more = in.u8() == 1;
      type = in.text();
      from = in.varint();
      if (!more) part = null;
      return told;
    }

    @Override
    public ChangeSet.One next() {
      if (!hasNext()) throw new NoSuchElementException();
      return page.next();
    }
  }
}
