package stoa.objects;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.Supplier;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Decoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.BatchLog;
import stoa.log.StoredEntry;
import stoa.log.StreamCopy;
import stoa.log.StreamMerge;
import stoa.log.Streams;
import stoa.storage.Device;
import stoa.store.divergence.Quarantine;
import stoa.store.ordering.Decision;
import stoa.store.records.Records;
import stoa.store.replicas.Announced;
import stoa.store.running.Unfinished;
import stoa.store.threads.Threads;

/// Makes one store of the groups that keep one together, all ended at one log address. One owner
/// uses it once.
public final class Merging {
  /*
   * All groups have one order of log addresses, so their logs, and the streams that each of them
   * has, are joined by log address:
   *
   *   dictionary, code           joined; other entries get the new numbers, see Renumbering
   *   the list of a type         joined; a put that begins an object, and its mark, name the new
   *                              place
   *   quarantine                 joined, with accepted states in the new numbers
   *   objects and keys           from their group, with new numbers
   *   users' streams, snapshots  from their group, as they are
   *   the table of sessions      that of the group that has had the most, so that no number of a
   *                              session comes again
   *   decisions, announcements   nothing: all groups have logged what was decided up to their end
   *   what sessions listen to    nothing: all sessions end
   *   headers of the log         joined, with the new places
   *
   * Then the store opens, finishes what was in progress, and ends the sessions.
   */
  private static final Key SESSIONS = Key.of("stoa/session", "table");
  private static final String LISTENING = "stoa/listening";

  private final StoaConfig config;
  private final List<Device> groups;
  private final Supplier<Device> whole;
  private final StreamMerge merge;
  private final List<List<String>> names = new ArrayList<>();

  // The streams that are written, or are to be left out.
  private final Set<StreamId> joined = new HashSet<>();

  // The names of the keys at which each session listens.
  private final Map<Long, Set<ByteBuffer>> listening = new TreeMap<>();

  private Merging(StoaConfig config, List<Device> groups, Supplier<Device> whole) {
    this.config = config;
    this.groups = List.copyOf(groups);
    this.whole = whole;
    this.merge = new StreamMerge(groups);
  }

  /// Makes the store. Durable on return.
  ///
  /// @param config only messages use its URL
  /// @param groups the devices of the groups, in their order; they stay as they are
  /// @param whole opens the device of the store, which is empty at first
  /// @throws stoa.NotShareable when a value cannot be read, since its class is missing
  /// @throws stoa.StoaException when the store cannot be written or opened
  public static void run(StoaConfig config, List<Device> groups, Supplier<Device> whole) {
    var merging = new Merging(config, groups, whole);
    merging.begin();
    merging.copy();
    merging.end();
    merging.settle();
  }

  private static List<String> names(Device device) {
    var names = new ArrayList<String>();
    new Streams(device)
        .scan(
            Dictionary.KEY.stream(),
            1,
            Long.MAX_VALUE,
            entry -> {
              names.add(new String(entry.payload(), StandardCharsets.UTF_8));
              return true;
            });
    return names;
  }

  /// Writes the dictionary and the code, so that a store can be opened.
  private void begin() {
    for (Device group : groups) names.add(names(group));
    StreamId code = Codes.KEY.stream();
    try (Device to = whole.get()) {
      merge.begin(to);
      join(
          code,
          to,
          (group, entry) -> Codes.with(entry.payload(), at -> merge.moved(code, group, at)));
      join(
          Dictionary.KEY.stream(),
          to,
          (group, entry) -> {
            String name = new String(entry.payload(), StandardCharsets.UTF_8);
            String changed = Codes.with(name, at -> merge.moved(code, group, at));
            return changed.getBytes(StandardCharsets.UTF_8);
          });
      to.sync();
    }
  }

  private void join(StreamId stream, Device to, StreamMerge.Joining joining) {
    merge.join(stream, to, joining);
    joined.add(stream);
  }

  // ---- what the groups have

  private void copy() {
    var stoa = EmbeddedEngine.open(config, whole, Clock.system(), Threads.real());
    try (var service = ObjectService.of(stoa, _ -> false)) {
      LocalService local = LocalService.of(stoa);
      for (String type : local.catalog().codes().types()) {
        var _ = local.catalog().active(type); // its code is asked for values that name none
      }
      Device to = local.shards().getFirst();
      var renumberings = new ArrayList<Renumbering>();
      for (int group = 0; group < groups.size(); group++) {
        int number = group;
        renumberings.add(
            new Renumbering(
                local.catalog(),
                names.get(group),
                old -> merge.moved(Dictionary.KEY.stream(), number, old + 1) - 1));
      }
      SortedSet<String> types = service.look().known();
      for (String type : types) objects(to, type, renumberings);
      join(
          Quarantine.KEY.stream(),
          to,
          (group, entry) ->
              Quarantine.with(
                  entry.payload(),
                  (key, state) -> renumberings.get(group).checkpoint(key.space(), state)));
      sessions(to);
      for (Device group : groups) listening(group);
      joined.add(Decision.KEY.stream());
      joined.add(directory(Decision.KEY.space()));
      joined.add(Announced.KEY.stream());
      for (Device group : groups) rest(group, to);
      for (Device group : groups) Spreading.blobs(group, to);
      to.sync();
    }
  }

  private static StreamId directory(String space) {
    return Key.of("stoa/directory", space).stream();
  }

  private void objects(Device to, String type, List<Renumbering> renumberings) {
    StreamId directory = directory(type);
    join(
        directory,
        to,
        (group, entry) ->
            switch (entry.kind()) {
              case Records.LISTED -> entry.payload();
              case Records.UNLISTED -> unlisted(directory, group, entry);
              default -> null; // a division of the store has left it in place of another group's
            });
    for (int group = 0; group < groups.size(); group++) {
      Device from = groups.get(group);
      var streams = new Streams(from);
      int number = group;
      streams.scan(
          directory,
          1,
          Long.MAX_VALUE,
          entry -> {
            if (entry.kind() != Records.LISTED) return true;
            StreamId stream = new Key(type, entry.payload(), type).stream();
            if (StreamCopy.has(to, stream)) return true;
            StreamCopy.stream(
                from,
                to,
                stream,
                renumberings
                    .get(number)
                    .of(type, streams, stream, at -> merge.moved(directory, number, at)));
            return true;
          });
    }
  }

  private byte[] unlisted(StreamId directory, int group, StoredEntry entry) {
    return Records.unlisted(merge.moved(directory, group, Records.unlisted(entry.payload())));
  }

  private void sessions(Device to) {
    StreamId table = SESSIONS.stream();
    int most = 0;
    for (int group = 1; group < groups.size(); group++) {
      if (last(group, table) > last(most, table)) most = group;
    }
    for (StreamId stream : List.of(table, directory(SESSIONS.space()))) {
      merge.choose(stream, most, to);
      joined.add(stream);
    }
  }

  private long last(int group, StreamId stream) {
    return new Streams(groups.get(group)).last(stream);
  }

  private void listening(Device from) {
    StreamId directory = directory(LISTENING);
    joined.add(directory);
    var streams = new Streams(from);
    streams.scan(
        directory,
        1,
        Long.MAX_VALUE,
        entry -> {
          if (entry.kind() != Records.LISTED) return true;
          StreamId stream = new Key(LISTENING, entry.payload(), LISTENING).stream();
          joined.add(stream);
          long session = new Decoder(entry.payload()).i64();
          listening
              .computeIfAbsent(session, _ -> new LinkedHashSet<>())
              .addAll(listening(streams, stream));
          return true;
        });
  }

  /// Returns the keys at which a session listens at the end of a group's log.
  private static Set<ByteBuffer> listening(Streams streams, StreamId session) {
    Streams.At begun = streams.lastMark(session, Long.MAX_VALUE);
    if (begun == null || !Records.mark(begun.data()).alive()) return Set.of();
    var keys = new LinkedHashSet<ByteBuffer>();
    long from = begun.address();
    Streams.At checkpoint = streams.lastCheckpoint(session, Long.MAX_VALUE);
    if (checkpoint != null && checkpoint.address() >= from) {
      keys.addAll(ListeningKeys.in(checkpoint.data()));
      from = checkpoint.address() + 1;
    }
    streams.scan(
        session,
        from,
        Long.MAX_VALUE,
        entry -> {
          if (entry.kind() == Records.PUT) {
            ListeningKeys.apply(Records.put(entry.payload()).value(), keys);
          }
          return true;
        });
    return keys;
  }

  /// Copies the streams that belong to no type.
  private void rest(Device from, Device to) {
    from.withRecords(
        null,
        stream -> {
          if (Streams.isInternal(stream) || joined.contains(stream)) return true;
          if (StreamCopy.has(to, stream)) {
            requireSame(from, to, stream);
            return true;
          }
          StreamCopy.stream(
              from,
              to,
              stream,
              new StreamCopy.Changes() {
                @Override
                public byte[] entry(StoredEntry entry) {
                  if (entry.kind() != Records.PUT) return entry.payload();
                  throw new Unavailable(
                      "the stream "
                          + stream
                          + " has calls of an object, and no list of a type names it; restore the"
                          + " backup into as many groups as it has");
                }

                @Override
                public byte[] mark(byte[] mark) {
                  return mark;
                }

                @Override
                public byte[] checkpoint(long address, byte[] state) {
                  return state;
                }
              });
          return true;
        });
  }

  /// Checks that a stream of a group is the one that is written already.
  private static void requireSame(Device from, Device to, StreamId stream) {
    var has = new Streams(from);
    var written = new Streams(to);
    long last = has.last(stream);
    StoredEntry one = has.read(stream, last);
    StoredEntry other = written.read(stream, last);
    boolean same = one == null ? other == null : other != null && one.log().equals(other.log());
    if (same && written.last(stream) == last) return;
    throw new Unavailable(
        "two groups have the stream "
            + stream
            + "; restore the backup into as many groups as it has");
  }

  // ---- the end

  private void end() {
    byte[] note = Unfinished.joined(merge.tails().stream().map(BatchLog.Tail::note).toList());
    try (Device to = whole.get()) {
      merge.log(to, stream -> !joined.contains(stream) && StreamCopy.has(to, stream), note);
      to.sync();
    }
  }

  private void settle() {
    var stoa = EmbeddedEngine.open(config, whole, Clock.system(), Threads.real());
    try (var service = ObjectService.of(stoa, _ -> false)) {
      KeyValues keys = LocalService.of(stoa).keyValues();
      listening.forEach((session, names) -> {
        for (ByteBuffer name : names) keys.endSession(session, ListeningKeys.bytes(name));
      });
      for (Sessions.Session session : service.sessions().all()) {
        var _ = service.sessions().end(session.id());
      }
    }
  }
}
