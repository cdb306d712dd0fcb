package stoa.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import stoa.Appended;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Ref;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.base.StreamId;
import stoa.front.Service;
import stoa.wire.SlotMap;
import stoa.wire.StreamForms;

/// The port to the streams of a store that several groups keep. Thread-safe.
///
/// A stream is in the group of its slot, unless group 0 has it: group 0 keeps the streams that were
/// begun when it had all of them, and those of the objects that belong to the store as a whole.
final class SpreadStreams implements Service.Streams {
  private static final int KNOWN_MAX = 65_536;

  // The most appends over groups at a time: each is a transaction that is open in a session.
  private static final int ACROSS_MAX = 64;

  private final RemoteService stoa;
  private final AppendTurns turns = new AppendTurns();
  private final Semaphore across = new Semaphore(ACROSS_MAX, true);

  // The rest of the appends that may wait for their turn, or for that semaphore.
  private final Semaphore waiting;

  // The groups of streams that exist, which never change; guarded by itself.
  private final Map<StreamKey, Integer> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<StreamKey, Integer> eldest) {
          return size() > KNOWN_MAX;
        }
      };

  SpreadStreams(RemoteService stoa) {
    this.stoa = stoa;
    waiting = new Semaphore(stoa.limits().queuedCallsMax());
  }

  private RemoteStreams part(int group) {
    return stoa.part(group).streams();
  }

  private List<RemoteStreams> parts() {
    return IntStream.range(0, stoa.count()).mapToObj(this::part).toList();
  }

  private List<MergedLog.Source<LogSlot.Written>> logs() {
    return parts().stream().map(RemoteStreams::log).toList();
  }

  // ---- the group of each stream

  private int slotGroup(StreamKey stream) {
    return stoa.group(new StreamId(stream.high(), stream.low()));
  }

  private Map<StreamKey, Integer> groups(List<StreamKey> streams) {
    var groups = LinkedHashMap.<StreamKey, Integer>newLinkedHashMap(streams.size());
    var unknown = new ArrayList<StreamKey>();
    // A server of an earlier release has all streams in group 0.
    boolean spread = stoa.first().conversation().server().getSpreadsStreams();
    synchronized (known) {
      for (StreamKey stream : streams) {
        int group = spread ? slotGroup(stream) : SlotMap.GLOBAL_GROUP;
        Integer told = known.get(stream);
        if (told == null && group != SlotMap.GLOBAL_GROUP) unknown.add(stream);
        groups.put(stream, told == null ? group : told);
      }
    }
    if (unknown.isEmpty()) return groups;
    for (StreamKey stream : part(SlotMap.GLOBAL_GROUP).had(unknown)) {
      groups.put(stream, SlotMap.GLOBAL_GROUP);
      exists(stream, SlotMap.GLOBAL_GROUP);
    }
    return groups;
  }

  private int group(StreamKey stream) {
    return groups(List.of(stream)).values().iterator().next();
  }

  /// Notes that a group has a stream.
  private void exists(StreamKey stream, int group) {
    if (slotGroup(stream) == SlotMap.GLOBAL_GROUP) return;
    synchronized (known) {
      known.put(stream, group);
    }
  }

  // ---- append

  @Override
  public int appendsMax() {
    return part(SlotMap.GLOBAL_GROUP).appendsMax();
  }

  /// An append in its order.
  ///
  /// @param parts its parts by their groups
  private record Begun(SortedMap<Integer, AppendAcross.Part> parts, AppendTurns.Place place) {
    private AppendAcross.Part only() {
      return parts.firstEntry().getValue();
    }

    private boolean isInOneGroup() {
      return parts.size() == 1;
    }
  }

  private Begun begin(List<StreamKey> streams, List<byte[]> data) {
    Map<StreamKey, Integer> groups = groups(streams);
    SortedMap<Integer, AppendAcross.Part> parts = new TreeMap<>();
    for (int i = 0; i < streams.size(); i++) {
      int group = groups.getOrDefault(streams.get(i), SlotMap.GLOBAL_GROUP);
      exists(streams.get(i), group); // soon: group 0 begins no stream of another group's slot
      var part = parts.computeIfAbsent(group, one -> new AppendAcross.Part(stoa.part(one)));
      part.streams().add(streams.get(i));
      part.data().add(data.get(i).clone());
    }
    var kind = parts.size() == 1 ? AppendTurns.Kind.IN_ONE_GROUP : AppendTurns.Kind.OVER_GROUPS;
    return new Begun(parts, turns.enter(streams, kind));
  }

  @Override
  public Supplier<Appended> append(List<StreamKey> streams, List<byte[]> data) {
    Begun begun = begin(streams, data);
    if (!begun.isInOneGroup()) {
      Appended appended = acrossGroups(begun);
      return () -> appended;
    }
    begun.place.await();
    AppendAcross.Part only = begun.only();
    Supplier<Appended> answer =
        only.stoa().streams().append(only.streams(), only.data(), begun.place::leave);
    begun.place.begun();
    return answer;
  }

  private Appended acrossGroups(Begun begun) {
    try {
      begun.place.await();
      across.acquireUninterruptibly();
      try {
        return new AppendAcross(stoa.first(), begun.parts).run();
      } finally {
        across.release();
      }
    } finally {
      begun.place.leave();
    }
  }

  @Override
  public CompletableFuture<Appended> appendAsync(List<StreamKey> streams, List<byte[]> data) {
    Begun begun = begin(streams, data);
    if (begun.isInOneGroup() && begun.place.mayBegin()) return oneGroup(begun);
    if (!waiting.tryAcquire()) {
      begun.place.leave();
      throw new LimitExceeded(
          stoa.limits().queuedCallsMax()
              + " appends to streams of several groups, and behind these, wait already"
              + " (queuedCallsMax); make fewer at once");
    }
    var answer = new CompletableFuture<Appended>();
    stoa.first()
        .hand(
            answer,
            () -> {
              try {
                if (!begun.isInOneGroup()) return acrossGroups(begun);
                begun.place.await();
                CompletableFuture<Appended> made = oneGroup(begun);
                begun.place.begun();
                return joined(made);
              } finally {
                waiting.release();
              }
            });
    return answer;
  }

  private static Appended joined(CompletableFuture<Appended> appended) {
    try {
      return appended.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException told) throw told;
      throw failed;
    }
  }

  private CompletableFuture<Appended> oneGroup(Begun begun) {
    AppendAcross.Part only = begun.only();
    return only.stoa().streams().appendAsync(only.streams(), only.data(), begun.place::leave);
  }

  // ---- read by log address

  @Override
  public void read(List<LogAddress> addresses, Consumer<LogSlot> reader) {
    LogAddress end = tail();
    int max = RemoteStreams.ADDRESSES_MAX;
    for (int from = 0; from < addresses.size(); from += max) {
      var some = addresses.subList(from, Math.min(addresses.size(), from + max));
      var asked = some.stream().filter(address -> isIssued(address, end)).toList();
      var all = new ArrayList<List<LogSlot>>();
      if (!asked.isEmpty()) {
        var questions = parts().stream().map(part -> part.slots(asked)).toList();
        for (var question : questions) all.add(StreamForms.slots(question.join()));
      }
      int next = 0;
      for (LogAddress address : some) {
        if (!isIssued(address, end)) {
          reader.accept(notIssued(address, end));
          continue;
        }
        int index = next++;
        reader.accept(joined(address, all.stream().map(slots -> slots.get(index)).toList()));
      }
    }
  }

  private static boolean isIssued(LogAddress address, LogAddress end) {
    return address.epoch() <= end.epoch() && address.counter() <= end.counter();
  }

  private static LogSlot notIssued(LogAddress address, LogAddress end) {
    return address.epoch() < end.epoch()
        ? new LogSlot.Hole(address)
        : new LogSlot.NotYetWritten(address);
  }

  /// Returns the content of an issued address, of which each group knows its own part.
  private static LogSlot joined(LogAddress address, List<LogSlot> parts) {
    var written = new ArrayList<LogSlot.Written>();
    boolean trimmed = false;
    for (LogSlot part : parts) {
      if (part instanceof LogSlot.Written one) written.add(one);
      trimmed |= part instanceof LogSlot.Trimmed;
    }
    if (!written.isEmpty()) return RemoteStreams.joined(written);
    return trimmed ? new LogSlot.Trimmed(address) : new LogSlot.Hole(address);
  }

  @Override
  public void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor) {
    LogAddress tail = tail();
    LogAddress end = to.compareTo(tail) < 0 ? to : tail;
    var log = new MergedLog<>(logs(), from);
    for (LogSlot.Written next; (next = log.next(end)) != null; ) {
      if (!visitor.test(next)) return;
    }
  }

  @Override
  public MergedTail<LogSlot.Written> follow(LogAddress from) {
    return new MergedTail<>(stoa.first(), new MergedLog<>(logs(), from));
  }

  @Override
  public LogAddress tail() {
    return part(SlotMap.GLOBAL_GROUP).tail();
  }

  @Override
  public LogSlot fillHole(LogAddress address) {
    LogAddress end = tail();
    if (!isIssued(address, end)) return notIssued(address, end);
    return joined(address, parts().stream().map(part -> part.fillHole(address)).toList());
  }

  // ---- read by stream address

  @Override
  public void read(StreamKey stream, List<Long> addresses, Consumer<StreamEntry> reader) {
    part(group(stream)).read(stream, addresses, reader);
  }

  @Override
  public void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor) {
    part(group(stream)).scan(stream, from, to, visitor);
  }

  @Override
  public RemoteTail<StreamEntry> follow(StreamKey stream, long from) {
    return part(group(stream)).follow(stream, from);
  }

  @Override
  public long check(StreamKey stream) {
    int group = group(stream);
    long last = part(group).check(stream);
    if (last > 0) exists(stream, group);
    return last;
  }

  @Override
  public long oldest(StreamKey stream) {
    int group = group(stream);
    long oldest = part(group).oldest(stream);
    if (oldest > 0) exists(stream, group);
    return oldest;
  }

  @Override
  public void trim(StreamKey stream, long before) {
    part(group(stream)).trim(stream, before);
  }

  @Override
  public StreamKey streamOf(Ref<?> ref) {
    return part(SlotMap.GLOBAL_GROUP).streamOf(ref);
  }
}
