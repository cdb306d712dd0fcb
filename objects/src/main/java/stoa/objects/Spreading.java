package stoa.objects;

import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.SharedKeys;
import stoa.front.SharedStoa;
import stoa.log.StreamCopy;
import stoa.log.Streams;
import stoa.storage.Device;
import stoa.storage.object.VersionState;
import stoa.store.divergence.Quarantine;
import stoa.store.records.Records;
import stoa.store.replicas.Announced;
import stoa.store.threads.Threads;

/// Divides a store that one group keeps among several groups. One owner uses it once.
public final class Spreading {
  /*
   * First the store opens as a whole: it finishes what a crash interrupted, and ends the sessions
   * of clients, which cannot go on with another number of groups. Then nothing is in progress, and
   * streams are copied as they are:
   *
   *   dictionary, code, sessions       to all groups: numbers in entries keep their meaning
   *   the list of a type's objects     to all groups; names of other groups' objects are notes
   *                                    there, so that the others keep their addresses
   *   objects and keys                 to the group of their slot
   *   all else                         to group 0
   *   headers of the log               to all groups, with the places that are there
   *
   * A stream of a group is known by its presence there, so the memory does not grow with streams.
   */
  private static final Key SESSIONS = Key.of("stoa/session", "table");
  private static final int KNOWN_MAX = 65_536;

  private final Supplier<Device> whole;
  private final List<Device> groups;
  private final ToIntFunction<StreamId> groupOf;
  private final Map<StreamId, Integer> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<StreamId, Integer> eldest) {
          return size() > KNOWN_MAX;
        }
      };

  // The types whose objects are spread.
  private final Set<String> types = new TreeSet<>();

  // The streams that each group has.
  private final Set<StreamId> everywhere = new TreeSet<>();

  private Spreading(Supplier<Device> whole, List<Device> groups, ToIntFunction<StreamId> groupOf) {
    this.whole = whole;
    this.groups = groups;
    this.groupOf = groupOf;
  }

  /// Divides a store. Durable on return.
  ///
  /// @param config only messages use its URL
  /// @param whole opens the device of the store, which changes
  /// @param groups the empty devices of the groups
  /// @param groupOf returns the group of an object or key
  /// @throws Unavailable when calls of the store do not end
  /// @throws stoa.StoaException when the store cannot be opened
  public static void run(
      StoaConfig config,
      Supplier<Device> whole,
      List<Device> groups,
      ToIntFunction<StreamId> groupOf) {
    var spreading = new Spreading(whole, groups, groupOf);
    spreading.settle(config);
    spreading.copy();
  }

  private void settle(StoaConfig config) {
    var stoa = EmbeddedEngine.open(config, whole, Clock.system(), Threads.real());
    try (var service = ObjectService.of(stoa, _ -> false)) {
      LocalService local = LocalService.of(stoa);
      for (Sessions.Session session : service.sessions().all()) {
        service.keys().endSession(session.id());
        var _ = service.sessions().end(session.id());
      }
      for (String name : service.look().known()) {
        if (name.equals(SharedStoa.BLOBS) || name.equals(Part.SERVERS)) continue;
        if (name.equals(SharedKeys.SPACE) || !isPlaced(local, name)) types.add(name);
      }
      List<ObjectCall> calls = service.operator().calls(1);
      if (!calls.isEmpty()) {
        throw new Unavailable(
            "the store cannot be divided while "
                + calls.getFirst()
                + " is in progress; restore it for one server, and cancel the call");
      }
    }
  }

  /// Returns whether objects of a type are placed at clients. A type without code has no objects.
  private static boolean isPlaced(LocalService local, String type) {
    if (!local.core().list(type).hasNext() && !local.catalog().codes().types().contains(type))
      return false;
    return local.catalog().typeNamed(type).shared().isPlaced();
  }

  private void copy() {
    try (Device from = whole.get()) {
      for (Key key : List.of(Dictionary.KEY, Codes.KEY, SESSIONS, Quarantine.KEY)) {
        everywhere(from, key.stream());
      }
      everywhere(from, directory(SESSIONS.space()));
      for (String type : types) objects(from, type);
      from.withRecords(
          null,
          stream -> {
            boolean rest = !Streams.isInternal(stream) && !stream.equals(Announced.KEY.stream());
            if (rest && !everywhere.contains(stream) && group(stream) < 0) copy(from, stream, 0);
            return true;
          });
      blobs(from, groups.getFirst());
      for (int group = 0; group < groups.size(); group++) {
        int number = group;
        StreamCopy.log(
            from,
            groups.get(group),
            stream -> everywhere.contains(stream) || group(stream) == number);
      }
      groups.forEach(Device::sync);
    }
  }

  private static StreamId directory(String space) {
    return Key.of("stoa/directory", space).stream();
  }

  private void everywhere(Device from, StreamId stream) {
    everywhere.add(stream);
    for (Device group : groups) StreamCopy.stream(from, group, stream);
  }

  private void objects(Device from, String type) {
    StreamId directory = directory(type);
    everywhere.add(directory);
    for (int group = 0; group < groups.size(); group++) {
      int number = group;
      StreamCopy.stream(
          from,
          groups.get(group),
          directory,
          (kind, payload) ->
              kind != Records.LISTED || groupOf.applyAsInt(stream(type, payload)) == number,
          Records.NOTE);
    }
    new Streams(from)
        .scan(
            directory,
            1,
            Long.MAX_VALUE,
            entry -> {
              if (entry.kind() == Records.LISTED) {
                StreamId stream = stream(type, entry.payload());
                if (group(stream) < 0) copy(from, stream, groupOf.applyAsInt(stream));
              }
              return true;
            });
  }

  private static StreamId stream(String type, byte[] name) {
    return new Key(type, name, type).stream();
  }

  private void copy(Device from, StreamId stream, int group) {
    StreamCopy.stream(from, groups.get(group), stream);
    known.put(stream, group);
  }

  /// Returns the group that has a stream; -1 for none.
  private int group(StreamId stream) {
    Integer cached = known.get(stream);
    if (cached != null) return cached;
    for (int group = 0; group < groups.size(); group++) {
      if (!StreamCopy.has(groups.get(group), stream)) continue;
      known.put(stream, group);
      return group;
    }
    return -1;
  }

  /// Copies the bytes of blobs.
  static void blobs(Device from, Device to) {
    var failure = new ArrayList<IOException>();
    from.objects(
        null,
        id -> {
          try {
            copy(from, to, id);
            return true;
          } catch (IOException broken) {
            failure.add(broken);
            return false;
          }
        });
    if (failure.isEmpty()) return;
    throw new Unavailable("a blob cannot be copied: " + failure.getFirst(), failure.getFirst());
  }

  private static void copy(Device from, Device to, StreamId id) throws IOException {
    var failed = new IOException[1];
    try (var in = new PipedInputStream(1 << 20)) {
      var out = new PipedOutputStream(in);
      Thread sender =
          Thread.ofPlatform()
              .start(() -> {
                try (out) {
                  from.object(id).updatesMissingFrom(VersionState.EMPTY, Set.of(), out);
                } catch (IOException broken) {
                  failed[0] = broken;
                }
              });
      to.object(id).applyAll(in);
      sender.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    if (failed[0] != null) throw failed[0];
  }
}
